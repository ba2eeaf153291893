import { mkdtempSync, mkdirSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";

import { afterEach, beforeEach, describe, expect, test } from "vitest";

import { createRuntime, defineSkill, type RuntimeOptions, type Runtime } from "../../src/index.ts";
import { ADD } from "../support/math-skill.ts";

let folder: string;
const opened: Runtime[] = [];

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "skillgate-control-"));
});

afterEach(async () => {
  await Promise.all(opened.splice(0).map((runtime) => runtime.close()));
  rmSync(folder, { recursive: true });
});

function write(name: string, text: string): void {
  mkdirSync(dirname(join(folder, name)), { recursive: true });
  writeFileSync(join(folder, name), text);
}

const MathSkill = defineSkill({
  name: "MathSkill",
  description: "Does sums",
  methods: {
    add: ADD,
    fail: {
      description: "Fail",
      run: async () => {
        throw new Error("no luck");
      },
    },
  },
  healthCheck: () => ({ healthy: false, message: "out of numbers" }),
});

async function open(options: RuntimeOptions = {}): Promise<Runtime> {
  const runtime = await createRuntime({ skillsDir: false, skills: [MathSkill], cwd: folder, ...options });
  opened.push(runtime);
  return runtime;
}

describe("a disabled skill", () => {
  test("is in no list, no search and no prompt, and returns unchanged [L7]", async () => {
    const runtime = await open();
    const seen = () => [
      runtime.catalog.skills.length,
      runtime.search("add numbers").results.length,
      runtime.systemPrompt().includes("MathSkill"),
      runtime.declarations().includes("MathSkill"),
    ];
    expect(seen()).toEqual([1, 2, true, true]);
    expect(runtime.disable("MathSkill")).toBe(true);
    expect(seen()).toEqual([0, 0, false, false]);
    expect(runtime.disabled().map(({ name }) => name)).toEqual(["MathSkill"]);
    expect(runtime.enable("MathSkill")).toBe(true);
    expect(seen()).toEqual([1, 2, true, true]);
    expect([runtime.disable("NoSkill"), runtime.disabled()]).toEqual([false, []]);
  });

  test("is refused for every kind of call [L7]", async () => {
    const runtime = await open();
    runtime.disable("MathSkill");
    const says = "Skill 'MathSkill' is disabled";
    const outcome = await runtime.run("const { add } = device.MathSkill; device.MathSkill.add(1, 2)");
    expect(outcome).toMatchObject({
      kind: "refused",
      violations: [
        {
          code: "SKILL_DISABLED",
          message: `Cannot call a disabled skill: ${says} (SKILL_DISABLED)`,
          line: 1,
          column: 23,
        },
        { code: "SKILL_DISABLED", line: 1, column: 41 },
      ],
    });
    await expect(runtime.call("MathSkill.add", { a: 1, b: 2 })).rejects.toMatchObject({
      code: "SKILL_DISABLED",
      message: says,
    });
    expect(await runtime.callAll([{ path: "MathSkill.add", input: { a: 1, b: 2 } }])).toMatchObject([
      { success: false, error: says, tool_name: "MathSkill.add" },
    ]);
    expect(runtime.describe("MathSkill.add").text).toBe(`Error: ${says}`);
  });

  test("is refused at the next call of a run that began before [L7]", async () => {
    const runtime = await open({
      skills: [
        MathSkill,
        defineSkill({
          name: "OffSkill",
          description: "Switches off",
          methods: { off: { description: "Off", run: async () => runtime.disable("MathSkill") } },
        }),
      ],
    });
    const outcome = await runtime.run(
      "await device.OffSkill.off(); try { await device.MathSkill.add(1, 2) } catch (error) { [error.code, error.message] }",
    );
    expect(outcome).toMatchObject({ value: ["SKILL_DISABLED", "Skill 'MathSkill' is disabled"] });
  });

  test("is hidden from a caller that may not call it [L7]", async () => {
    const runtime = await open();
    runtime.disable("MathSkill");
    const caller = { id: "bob", permissions: ["call:OtherSkill.*"] };
    const outcome = await runtime.run("device.MathSkill.add(1, 2)", { caller });
    expect(outcome).toMatchObject({ violations: [{ code: "SKILL_UNKNOWN" }] });
    expect(runtime.describe("MathSkill.add", { caller }).text).toMatch(/^Error: Skill 'MathSkill' not found/);
  });

  test("can be disabled by the settings [L7]", async () => {
    write("settings.yaml", "skills:\n  MathSkill:\n    enabled: false\n");
    const runtime = await open({ settings: join(folder, "settings.yaml") });
    expect(runtime.catalog.skills).toEqual([]);
    runtime.enable("MathSkill");
    expect(await runtime.call("MathSkill.add", { a: 1, b: 2 })).toBe(3);
  });
});

describe("the health of skills", () => {
  test("is what they report; a skill that did not start is unhealthy [L8]", { tags: "rest" }, async () => {
    write("skills/broken.ts", "export class BrokenSkill { constructor() { throw new Error('no'); } run() {} }");
    write("skills/fine.ts", "export const fine = () => 1;");
    const runtime = await open({
      skillsDir: "skills",
      mcpServers: { gone: { command: process.execPath, args: ["-e", "process.exit(3)"] } },
    });
    await runtime.ready;
    expect(await runtime.health()).toEqual([
      { skill: "MathSkill", source: "code", healthy: false, message: "out of numbers" },
      { skill: "FineSkill", source: "fine.ts", healthy: true, message: "ok" },
      { skill: "BrokenSkill", source: "broken.ts", healthy: false, message: "Skill failed to instantiate" },
      { skill: "GoneMCP", source: "gone", healthy: false, message: expect.stringContaining("exit") },
    ]);
  });
});

describe("settings of skills", () => {
  const WEATHER = `
    export const settings = {
      type: "object",
      properties: {
        unit: { enum: ["celsius", "fahrenheit"], default: "celsius" },
        days: { type: "integer", maximum: 7 },
        apiKey: { type: "string", writeOnly: true },
      },
      required: ["apiKey"],
      additionalProperties: false,
    };
    export const given = (context: CallContext) => ({ settings: context.settings, secrets: context.secrets });
    export const has = (context: CallContext) => context.secrets.apiKey === "k-123456";
    export function leak(context: CallContext) { throw new Error("key " + context.secrets.apiKey + " is wrong"); }
  `;

  test("come from settings.yaml, with defaults; secrets come from the environment [L9]", { tags: "rest" }, async () => {
    write("skills/weather.ts", WEATHER);
    write("settings.yaml", "skills:\n  WeatherSkill:\n    days: 3\n    isolation: process\n");
    const options = {
      skillsDir: "skills",
      settings: join(folder, "settings.yaml"),
      env: { WEATHER_API_KEY: "k-123456" },
    };
    const runtime = await open(options);
    expect(await runtime.call("WeatherSkill.given", {})).toEqual({
      settings: { unit: "celsius", days: 3 },
      secrets: { apiKey: "[secret:1]" },
    });
    expect(await runtime.call("WeatherSkill.has", {})).toBe(true);
    expect(runtime.problems).toEqual([]);
    await expect(runtime.call("WeatherSkill.leak", {})).rejects.toThrow(/^key \[redacted\] is wrong$/);
  });

  test("expand placeholders, also from .env [L9]", { tags: "rest" }, async () => {
    write("skills/weather.ts", WEATHER);
    write(".env", "MY_KEY=from-the-file\n");
    write("settings.yaml", 'skills:\n  WeatherSkill: { apiKey: "${MY_KEY}", unit: "${UNIT:-fahrenheit}" }\n');
    const runtime = await open({ skillsDir: "skills", settings: join(folder, "settings.yaml"), env: {} });
    expect(runtime.settingsOf("WeatherSkill")).toEqual({
      settings: { unit: "fahrenheit" },
      secrets: { apiKey: "from-the-file" },
      problems: [],
      missingSecrets: [],
    });
  });

  test(
    "refuse calls and fail the health check while a required secret is missing [L8, L9]",
    { tags: "rest" },
    async () => {
      write("skills/weather.ts", WEATHER);
      const runtime = await open({ skillsDir: "skills", skills: [], env: {} });
      await expect(runtime.call("WeatherSkill.given", {})).rejects.toMatchObject({
        code: "SECRET_MISSING",
        message:
          'Cannot call a skill without its secret: WeatherSkill: it has no "apiKey"; set WEATHER_API_KEY (SECRET_MISSING)',
      });
      expect(await runtime.health()).toEqual([
        {
          skill: "WeatherSkill",
          source: "weather.ts",
          healthy: false,
          message: 'it has no "apiKey"; set WEATHER_API_KEY',
        },
      ]);
      const outcome = await runtime.run("device.WeatherSkill.given()");
      expect(outcome).toMatchObject({ kind: "failed", error: { code: "SECRET_MISSING" } });
    },
  );

  test("report all mistakes at once, and keep the skill working [L9]", { tags: "rest" }, async () => {
    write("skills/weather.ts", WEATHER);
    write("settings.yaml", 'skills:\n  WeatherSkill: { days: 9, unti: celsius, unit: "${NOTHING}" }\n');
    const runtime = await open({ skillsDir: "skills", settings: join(folder, "settings.yaml"), env: {} });
    expect(runtime.problems.map(({ source, error }) => `${source} | ${error}`)).toEqual([
      "skills.WeatherSkill | Cannot read the configuration: skills.WeatherSkill: missing environment variable NOTHING (CONFIG_INVALID)",
      ...[
        '"apiKey" is required; set WEATHER_API_KEY',
        '"days" must be at most 7, is 9',
        '"unti" is not a setting, valid are apiKey, unit, days (did you mean unit?)',
      ].map(
        (what) => `skills.WeatherSkill | Cannot read the configuration: skills.WeatherSkill: ${what} (CONFIG_INVALID)`,
      ),
    ]);
    const options = {
      skillsDir: "skills",
      settings: join(folder, "settings.yaml"),
      env: { WEATHER_API_KEY: "k-123456" },
    };
    const withSecret = await open(options);
    expect(await withSecret.call("WeatherSkill.given", {})).toMatchObject({ settings: { days: 9 } });
  });
});

describe("a runtime that watches", () => {
  test("applies changed settings of skills, and keeps the old ones while the file is broken [L7, L9]", async () => {
    write("skills/echo.ts", "export const unit = (context: CallContext) => context.settings.unit ?? 'none';");
    write("settings.yaml", "skills: {}\n");
    const warnings: string[] = [];
    const runtime = await open({
      skillsDir: "skills",
      settings: join(folder, "settings.yaml"),
      watch: true,
      log: (level, text) => level === "warn" && warnings.push(text),
    });
    expect(await runtime.call("EchoSkill.unit", {})).toBe("none");
    write("settings.yaml", "skills:\n  EchoSkill: { unit: K }\n  MathSkill: { enabled: false }\n");
    await expect.poll(() => runtime.call("EchoSkill.unit", {})).toBe("K");
    await expect.poll(() => runtime.disabled().map(({ name }) => name)).toEqual(["MathSkill"]);
    write("settings.yaml", "skills: [\n");
    await expect
      .poll(() => warnings)
      .toEqual([expect.stringMatching(/^Cannot take up the settings: .*settings\.yaml/)]);
    expect(runtime.disabled().map(({ name }) => name)).toEqual(["MathSkill"]);
    write("settings.yaml", "skills:\n  EchoSkill: { unit: L }\n");
    await expect.poll(() => runtime.disabled()).toEqual([]);
    expect(await runtime.call("EchoSkill.unit", {})).toBe("L");
  });
});

describe("statistics", () => {
  test("are summed over the runtimes of one store [X6]", async () => {
    const options = { store: join(folder, "store") };
    for (let round = 0; round < 2; round++) {
      const runtime = await open(options);
      await runtime.call("MathSkill.add", { a: 1, b: 2 });
      await runtime.call("MathSkill.fail", {}).catch(() => undefined);
      await runtime.call("MathSkill.add", {}).catch(() => undefined);
      expect(runtime.statistics().get("MathSkill.add")).toMatchObject({ total: 1, succeeded: 1, failed: 0 });
      await runtime.close();
    }
    const runtime = await open(options);
    const statistics = await runtime.lastingStatistics();
    expect([...statistics.keys()]).toEqual(["MathSkill.add", "MathSkill.fail"]);
    expect(statistics.get("MathSkill.add")).toEqual({
      total: 2,
      succeeded: 2,
      failed: 0,
      averageMs: expect.any(Number),
      p95Ms: expect.any(Number),
      lastUsed: expect.any(Number),
    });
    expect(statistics.get("MathSkill.fail")).toMatchObject({ total: 2, succeeded: 0, failed: 2 });
  });
});

describe("logs and progress of skills", () => {
  test("reach the runtime's log and its listeners [L3]", { tags: "rest" }, async () => {
    write(
      "skills/talk.ts",
      `export function talk(context: CallContext) { context.log("warn", "hm"); context.progress(1, 2, "half"); return 1; }
       export function print() { console.log("printed"); }`,
    );
    const logged: unknown[] = [];
    const steps: unknown[] = [];
    let printed = (): void => {};
    const wasPrinted = new Promise<void>((resolve) => (printed = resolve));
    const log = (...line: readonly unknown[]): void => {
      logged.push(line);
      if (line[1] === "printed") printed();
    };
    const runtime = await open({ skillsDir: "skills", log });
    runtime.on("progress", (step) => steps.push(step));
    const { runId } = await runtime.run("await device.TalkSkill.talk(); await device.TalkSkill.print()");
    await wasPrinted;
    expect(logged).toEqual([
      ["warn", "hm", "TalkSkill.talk"],
      ["info", "printed", "TalkSkill.print"],
    ]);
    expect(steps).toEqual([{ runId, path: "TalkSkill.talk", done: 1, total: 2, text: "half" }]);
  });
});
