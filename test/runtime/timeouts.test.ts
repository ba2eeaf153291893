import { mkdtempSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

import { afterEach, beforeEach, describe, expect, test } from "vitest";

import { createRuntime, defineSkill, type Runtime, type RuntimeOptions, type Timeouts } from "../../src/index.ts";
import type { JsonSchema } from "../../src/model/json.ts";
import type { SearchAnswer } from "../../src/registry/index.ts";
import { createSkill } from "../registry/catalogs.ts";

let folder: string;
const opened: Runtime[] = [];

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "skillgate-timeouts-"));
});

afterEach(async () => {
  await Promise.all(opened.splice(0).map((runtime) => runtime.close()));
  rmSync(folder, { recursive: true });
});

async function open(options: RuntimeOptions): Promise<Runtime> {
  const runtime = await createRuntime({ skillsDir: false, cwd: folder, ...options });
  opened.push(runtime);
  return runtime;
}

/** Skills of many methods each; none of them is ever called. */
function manySkills(count: number, methods: number) {
  return Array.from({ length: count }, (_, skill) =>
    defineSkill({
      name: `Numbered${skill}Skill`,
      description: "One of many",
      methods: Object.fromEntries(
        Array.from({ length: methods }, (_, method) => [
          `take${method}`,
          { description: `Takes number ${method} of shelf ${skill} and puts it on the table`, run: () => null },
        ]),
      ),
    }),
  );
}

/** Returns a skill whose methods accept many values, so that describing them all takes long. */
function skillOfWideMethods(methods: number) {
  const value = { type: "string", description: "One of many" } as const;
  const properties = Object.fromEntries(Array.from({ length: 3_000 }, (_, at) => [`value${at}`, value]));
  const input = { type: "object", properties } as const;
  return defineSkill({
    name: "WideSkill",
    description: "Takes many values",
    methods: Object.fromEntries(
      Array.from({ length: methods }, (_, at) => [`take${at}`, { description: "Take", input, run: () => null }]),
    ),
  });
}

/** Each level has the next one twice. */
const LEVELS = Object.fromEntries(
  Array.from({ length: 40 }, (_, at) => [
    `d${at}`,
    at === 39 ? { type: "string" } : { allOf: [1, 2].map(() => ({ $ref: `#/$defs/d${at + 1}` })) },
  ]),
);
const DOUBLING: JsonSchema = { $ref: "#/$defs/d0" };

describe("validation", () => {
  const calls: unknown[] = [];
  const skillWith = (name: string, schema: JsonSchema) =>
    defineSkill({
      name,
      description: "Takes lists",
      methods: {
        take: {
          description: "Take a list",
          input: { type: "object", $defs: LEVELS, properties: { list: schema }, required: ["list"] },
          run: (input: unknown) => void calls.push(input),
        },
      },
    });

  test.each<[string, JsonSchema, string]>([
    ["references that double with each level", DOUBLING, "5"],
    [
      "a slow pattern after the other",
      {
        type: "object",
        properties: Object.fromEntries(
          Array.from({ length: 100 }, (_, at) => [`p${at}`, { type: "string", pattern: `^(a+)+${at}$` }]),
        ),
      },
      "Object.fromEntries(Array.from({ length: 100 }, (_, i) => ['p' + i, 'a'.repeat(64) + '!']))",
    ],
  ])("ends %s with its own error, before the method is called [X8]", async (_, schema, list) => {
    const runtime = await open({ skills: [skillWith("ListSkill", schema)], timeouts: { validationMs: 20 } });
    const outcome = await runtime.run(`const list = ${list};\nawait device.ListSkill.take({ list })`);
    expect(outcome).toMatchObject({
      kind: "failed",
      error: {
        code: "VALIDATION_TIMEOUT",
        message:
          "Argument validation timed out: the arguments of ListSkill.take take too long to check against its schema (VALIDATION_TIMEOUT)",
        hint: "Pass less in one call, or raise timeouts.validationMs in the settings",
      },
      calls: [{ outcome: "refused" }],
    });
    expect(calls).toEqual([]);
  });

  test("reports a call of a quarantined method of a server [X8]", async () => {
    const runtime = await open({ timeouts: { validationMs: 20 } });
    const input = { type: "object", $defs: LEVELS, properties: { list: DOUBLING } };
    runtime.register(createSkill("ListMCP", [{ name: "take", description: "Take a list", input }], { kind: "mcp" }));
    const list = [5];
    const call = (): Promise<unknown> => runtime.call("ListMCP.take", { list });
    for (let time = 0; time < 2; time++)
      await expect(call()).rejects.toMatchObject({
        code: "VALIDATION_TIMEOUT",
        message: expect.stringContaining("the arguments of ListMCP.take take too long to check against its schema"),
      });
    const says =
      "Argument validation timed out: the arguments of ListMCP.take cannot be checked: the method is quarantined because its schemas exceeded the validation time limit 2 times (VALIDATION_TIMEOUT)";
    await expect(call()).rejects.toMatchObject({ code: "VALIDATION_TIMEOUT", message: says });
    const outcome = await runtime.run("await device.ListMCP.take({ list: [] })");
    expect(outcome).toMatchObject({ kind: "failed", error: { code: "VALIDATION_TIMEOUT", message: says } });
  });
});

/** Searches until the searches before have read all methods. Returns all answers. */
function searchUntilRead(runtime: Runtime, query: string): readonly SearchAnswer[] {
  const answers = [runtime.search(query, { limit: 100 })];
  while (answers.at(-1)?.searched !== undefined) answers.push(runtime.search(query, { limit: 100 }));
  return answers;
}

describe("discovery", () => {
  test(
    "ends a description of too much with its own error, and answers the next request [X8]",
    { tags: "rest" },
    async () => {
      const skills = [skillOfWideMethods(40), ...manySkills(1, 1)];
      const runtime = await open({ skills, timeouts: { discoveryMs: 2 } });
      const path = `WideSkill WideSkill.${"x".repeat(100)}`;
      const says = `Method discovery timed out: what "${path.slice(0, 79)}…" stands for is not all described after 2 ms (DISCOVERY_TIMEOUT)`;
      expect(() => runtime.describe(path)).toThrow(says);
      expect(await runtime.run(`await device.describe(${JSON.stringify(path)})`)).toMatchObject({
        kind: "failed",
        error: { code: "DISCOVERY_TIMEOUT", message: says },
      });
      // A small question fits into two milliseconds, but not each time on a busy machine.
      const retry = (): string => {
        try {
          return runtime.describe("Numbered0Skill.take0").kind;
        } catch {
          return retry();
        }
      };
      expect(retry()).toBe("method");
    },
  );

  test(
    "answers a search that must read very many methods from those it has read, and continues in the next one [X8]",
    { tags: "rest" },
    async () => {
      const runtime = await open({ skills: manySkills(100, 50), timeouts: { discoveryMs: 10 } });
      const answers = searchUntilRead(runtime, "number 7 of shelf 99");
      const read = answers.slice(0, -1).map(({ searched }) => searched?.methods ?? 0);
      expect(answers.at(-1)?.results[0]?.path).toBe("Numbered99Skill.take7");
      expect(read.length).toBeGreaterThan(0);
      expect(read).toEqual([...new Set(read)].sort((a, b) => a - b));
      expect(answers[0]?.text).toContain(`Searched ${read[0]?.toLocaleString("en-US")} of 5,000 methods`);
    },
  );

  test("does not find methods that are removed while others are read [X8]", { tags: "rest" }, async () => {
    const runtime = await open({ skills: manySkills(100, 50), timeouts: { discoveryMs: 5 } });
    expect(runtime.search("shelf").searched?.of).toBe(5_000);
    for (let skill = 0; skill < 99; skill++) runtime.unregister(`Numbered${skill}Skill`);
    const found = searchUntilRead(runtime, "number shelf table")
      .at(-1)
      ?.results.map(({ path }) => path.split(".")[0]);
    expect([found?.length, new Set(found)]).toEqual([50, new Set(["Numbered99Skill"])]);
  });
});

test("waits for a lock of another process as long as the settings say [X8]", async () => {
  const NoteSkill = defineSkill({
    name: "NoteSkill",
    description: "Keeps notes",
    methods: {
      keep: { description: "Keep a note", run: async (_: unknown, { store }) => store.set("note", "milk") },
    },
  });
  writeFileSync(join(folder, "settings.yaml"), "timeouts:\n  lockMs: 30\n");
  const runtime = await open({ skills: [NoteSkill], store: "store", settings: "settings.yaml" });
  expect((await runtime.run("await device.NoteSkill.keep()")).kind).toBe("completed");
  const file = readdirSync(join(folder, "store")).find((name) => name.endsWith(".jsonl"));
  writeFileSync(join(folder, "store", `${file}.lock`), String(process.ppid));
  expect(await runtime.run("await device.NoteSkill.keep()")).toMatchObject({
    kind: "failed",
    error: {
      message: expect.stringContaining(
        `Timed out waiting for the store: "${file}.lock" is still held by another process after 30 ms (LOCK_TIMEOUT)`,
      ),
    },
  });
});

test("connects to an MCP server for as long as the settings say [X8]", async () => {
  const args = [join(process.cwd(), "test/fixtures/mcp/server.js"), "hang"];
  const runtime = await open({
    mcpServers: { slow: { command: process.execPath, args } },
    timeouts: { connectMs: 500 },
  });
  await runtime.ready;
  expect(runtime.servers[0]).toMatchObject({
    status: "error",
    error: expect.stringContaining("did not answer within 0.5 s"),
  });
});

describe("refuses an invalid value with the valid ones", () => {
  test.each<[unknown, string]>([
    [{ validationMs: 0 }, "timeouts.validationMs must be a positive number, not 0"],
    [{ discoveryMs: -5 }, "timeouts.discoveryMs must be a positive number, not -5"],
    [{ lockMs: "soon" }, 'timeouts.lockMs must be a positive number, not "soon"'],
    [{ connectMs: Number.NaN }, "timeouts.connectMs must be a positive number, not NaN"],
    [{ connectMs: Infinity }, "timeouts.connectMs must be a positive number, not Infinity"],
    [{ lockMs: undefined }, "timeouts.lockMs must be a positive number, not undefined"],
    [{ lookMs: 5 }, "timeouts has the unknown name lookMs; did you mean lockMs?"],
    ["5 s", 'timeouts must be an object of numbers, not "5 s"'],
    [null, "timeouts must be an object of numbers, not null"],
  ])("as option, %j [X8]", async (timeouts, words) => {
    await expect(createRuntime({ skillsDir: false, timeouts: timeouts as Timeouts })).rejects.toThrow(
      `Cannot use this option: ${words} (OPTION_INVALID)`,
    );
  });
});

test("uses the documented default of each timeout unless it is set [X8]", async () => {
  const defaults = { validationMs: 5_000, discoveryMs: 2_000, lockMs: 5_000, connectMs: 30_000 };
  expect((await open({})).timeouts).toEqual(defaults);
  writeFileSync(join(folder, "settings.yaml"), "timeouts:\n  validationMs: 100\n  lockMs: 7\n");
  const runtime = await open({ settings: "settings.yaml", timeouts: { lockMs: 8.5, connectMs: 1e12 } });
  expect(runtime.timeouts).toEqual({ ...defaults, validationMs: 100, lockMs: 9, connectMs: 2 ** 31 - 1 });
});
