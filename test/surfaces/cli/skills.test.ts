import { spawnSync } from "node:child_process";
import { existsSync, mkdirSync, readFileSync, symlinkSync, writeFileSync } from "node:fs";
import { join, resolve } from "node:path";

import { describe, expect, test } from "vitest";

import { environment, MATH_SKILL, project, skillgate } from "./command.ts";

const WEATHER = `
/** @file Tells the weather. */

export const settings = {
  type: "object",
  properties: {
    unit: { enum: ["celsius", "fahrenheit"], default: "celsius", description: "Unit of temperatures" },
    apiKey: { type: "string", writeOnly: true, description: "Key of the service" },
  },
};

/**
 * Tell the temperature of a city.
 *
 * @param city Name of the city
 * @example device.WeatherSkill.temperature("Paris")
 */
export function temperature(city: string, context: CallContext): string {
  return city + " 21 " + context.settings.unit;
}
`;

/** Runs a command that must go well, and gives its answer as JSON. */
async function json(cwd: string, ...args: readonly string[]): Promise<ReturnType<JSON["parse"]>> {
  const { exit, stdout, stderr } = await skillgate([...args, "--json"], { cwd });
  expect({ exit, stderr }).toEqual({ exit: 0, stderr: "" });
  return JSON.parse(stdout);
}

describe("skills new", () => {
  test.each(["functions", "class", "schema", "mcp"])(
    "creates a working skill in the form %s, without findings and with a passing test [L11]",
    { tags: "rest" },
    async (form) => {
      const cwd = project();
      const made = await json(cwd, "skills", "new", "home office", "--form", form);
      const path = "HomeOfficeSkill.getHomeOffice";
      const files = ["home-office.ts", "home-office.test.ts"].map((name) => join(cwd, "skills", name));
      expect(made).toEqual({ skill: "HomeOfficeSkill", form, files });
      const [called, checked, tested] = await Promise.all([
        json(cwd, "call", path, "name=example"),
        json(cwd, "skills", "check"),
        json(cwd, "skills", "test"),
      ]);
      expect(called).toEqual({ path, value: "An example of home office" });
      expect(checked).toEqual({
        ok: true,
        skills: [
          { skill: "HomeOfficeSkill", source: "home-office.ts", methods: 1, tokens: expect.any(Number), findings: [] },
        ],
        failures: [],
        held: [],
      });
      const names = tested.results.map(({ subject, name }: { subject: string; name: string }) => `${subject} ${name}`);
      expect(names).toEqual([
        ...(form === "mcp" ? [] : [`${path} device.${path}("example")`]),
        "home-office.test.ts tells about an entry",
        "home-office.test.ts is called by a program",
        "home-office.test.ts names the entries in the error for another name",
      ]);
      expect(tested.results.every(({ outcome }: { outcome: string }) => outcome === "passed")).toBe(true);
    },
  );

  test.each([
    ["WeatherSkill", "weather.ts", "WeatherSkill.getWeather"],
    ["my_weather.ts", "my-weather.ts", "MyWeatherSkill.getMyWeather"],
    ["send mail", "send-mail.ts", "SendMailSkill.sendMail"],
    ["3d print", "3d-print.ts", "Skill3dPrint.get3dPrint"],
    ["天気", "天気.ts", "天気Skill.get天気"],
  ])("writes %s to the file %s with the method %s [L11]", { tags: "rest" }, async (name, file, path) => {
    const cwd = project();
    expect(await json(cwd, "skills", "new", name)).toMatchObject({
      skill: path.split(".")[0],
      files: [join(cwd, "skills", file), expect.any(String)],
    });
    expect(await json(cwd, "call", path, "name=example", "detail=full")).toMatchObject({
      value: expect.stringContaining(": replace it"),
    });
  });

  test("writes a test for vitest where the project has it, which passes [L11]", { tags: "rest" }, async () => {
    const cwd = project({ "package.json": JSON.stringify({ type: "module", devDependencies: { vitest: "*" } }) });
    mkdirSync(join(cwd, "node_modules"));
    symlinkSync(resolve("."), join(cwd, "node_modules/skillgate"));
    symlinkSync(resolve("node_modules/vitest"), join(cwd, "node_modules/vitest"));
    const { stdout } = await skillgate(["skills", "new", "weather"], { cwd });
    expect(stdout).toContain("Test it:  npx vitest run skills/weather.test.ts\n");
    const vitest = resolve("node_modules/vitest/vitest.mjs");
    const run = spawnSync(process.execPath, [vitest, "run", "skills"], {
      cwd,
      encoding: "utf8",
      env: environment(cwd, { NO_COLOR: "1" }),
    });
    expect(run.stdout).toMatch(/Tests +3 passed/);
  });

  test("creates the folder, and never overwrites a file [L11]", async () => {
    const cwd = project({ "other/weather/skill.ts": "" });
    const refused = await skillgate(["skills", "new", "weather", "--skills", "other"], { cwd });
    expect({ exit: refused.exit, stderr: refused.stderr }).toEqual({
      exit: 2,
      stderr: "Cannot create the skill: other/weather already exists\n",
    });
    await json(cwd, "skills", "new", "weather", "--skills", "new/folder");
    expect(existsSync(join(cwd, "new/folder/weather.test.ts"))).toBe(true);
  });

  test("names the folder of the bundled skills when the first own skill replaces them [L11]", async () => {
    const cwd = join(project(), "fresh");
    mkdirSync(cwd);
    const { exit, stderr } = await skillgate(["skills", "new", "weather"], { cwd });
    const shipped = resolve("skills");
    expect({ exit, stderr }).toEqual({
      exit: 0,
      stderr: `Note: The bundled skills in ${shipped} are no longer used in this project; copy those that you want to keep\n`,
    });
  });

  test.each(["../evil", "a/b", "", "!!!", "x".repeat(60)])("refuses %j as a name [L11]", async (name) => {
    const cwd = project();
    const { exit, stderr } = await skillgate(["skills", "new", name], { cwd });
    expect(exit).toBe(2);
    expect(stderr).toBe(`Cannot name a skill ${JSON.stringify(name)}: use one or a few words, such as home-office\n`);
  });
});

describe("skills check", () => {
  test("lints each skill, and reports files that are not skills [L11]", { tags: "rest" }, async () => {
    const long = "a".repeat(60);
    const cwd = project({
      "skills/broken.ts": "export class BrokenSkill {",
      "skills/odd.ts": `
        export function pending(x) { return x; }
        /** Do. */
        export function ${long}(): void {}
      `,
      "skills/one.ts": `/** @file One. */\n\n/** Count the apples in the basket. */\nexport function apples(): number { return 1; }`,
      "skills/two.ts": `/** @file Two. */\n\n/** Count the apples in the basket. */\nexport function oranges(): number { return 1; }
        /** Count the apples in the basket. */\nexport function pears(): number { return 1; }
        /** Count the apples in the basket. */\nexport function plums(): number { return 1; }`,
    });
    const { exit, stdout } = await skillgate(["skills", "check", "--json"], { cwd });
    expect(exit).toBe(1);
    const { ok, skills, failures } = JSON.parse(stdout);
    expect({ ok, failures }).toEqual({
      ok: false,
      failures: [
        {
          source: "broken.ts",
          error: "Cannot load the skill: line 1, column 27: Unexpected token (SKILL_INVALID)",
          frame: expect.stringContaining("> 1 | export class BrokenSkill {"),
        },
      ],
    });
    const findings = skills.flatMap((each: { findings: { path: string; says: string }[] }) => each.findings);
    expect(findings.map(({ path, says }: { path: string; says: string }) => `${path}: ${says}`)).toEqual([
      'OddSkill: Cannot read the type of parameter "x" of "OddSkill.pending" (odd.ts:2): no type is declared, so any value is taken; write x: string, or whatever it is',
      "OddSkill: has no description; say in one sentence what it is for",
      "OddSkill.pending: has no description; say in its first sentence what it is for",
      'OddSkill.pending: parameter "x" has no description; add @param x …',
      `OddSkill.${long}: its tool name has 70 characters, of which 64 are kept`,
      expect.stringMatching(
        /^(?:OneSkill|TwoSkill)\.\w+: a search for its own description finds .*; use words that only this method has$/,
      ),
    ]);
  });

  test(
    "reports schemas that accept any value, and parameters without a description in one line [L11]",
    { tags: "rest" },
    async () => {
      const deep = `const deep = (levels) => levels === 0 ? {} : { type: "object", properties: { a: deep(levels - 1) } };`;
      const cwd = project({
        "skills/schema.mjs": `
        import { defineSkill } from "skillgate";
        ${deep}
        const method = (properties) => ({ description: "Pick the plums of a given tree", input: { properties, $defs: { "a/b": { type: "string", description: "Fine" } } }, run: () => 1 });
        export default defineSkill({ name: "SchemaSkill", description: "Schemas", methods: {
          deep: method({ value: deep(60) }),
          gone: method({ fine: { $ref: "#/$defs/a~1b" }, gone: { $ref: "#/$defs/none" }, far: { $ref: "https://example.com/far.json" } }),
          many: method(Object.fromEntries(["a", "b", "c", "d", "e", "f"].map((name) => [name, { type: "string" }]))),
        } });`,
      });
      const { stdout } = await skillgate(["skills", "check", "--json"], { cwd });
      const [{ findings }] = JSON.parse(stdout).skills;
      const said = findings.map(({ path, says }: { path: string; says: string }) => `${path}: ${says}`);
      expect(said.filter((each: string) => !/a search for|parameter "/.test(each))).toEqual([
        "SchemaSkill.deep: its input schema is too large or nests too deeply, so any arguments are accepted; simplify it",
        'SchemaSkill.gone: its schema refers to "#/$defs/none", which it does not contain, so any value is accepted',
        'SchemaSkill.gone: its schema refers to "https://example.com/far.json", which is not resolved, so any value is accepted; put it under $defs',
        "SchemaSkill.many: 6 of its parameters have no description; add @param … for each",
      ]);
    },
  );

  test("checks the named skills, and shows the size of their declarations [L11]", { tags: "rest" }, async () => {
    const cwd = project({ "skills/math.js": MATH_SKILL, "skills/weather.ts": WEATHER });
    const { exit, stdout } = await skillgate(["skills", "check", "WeatherSkill"], { cwd });
    expect({ exit, stdout }).toEqual({
      exit: 0,
      stdout: expect.stringMatching(/^✓ WeatherSkill {2}weather\.ts {2}1 method, about \d\d tokens\n$/),
    });
    const unknown = await skillgate(["skills", "check", "WetherSkill"], { cwd });
    expect({ exit: unknown.exit, stderr: unknown.stderr }).toEqual({
      exit: 5,
      stderr:
        "Unknown skill: WetherSkill; did you mean WeatherSkill? (SKILL_UNKNOWN)\nUse one of the names that exist\n",
    });
  });
});

describe("skills test", () => {
  test("run examples through gatekeeper and sandbox, and report their mistakes [L11]", { tags: "rest" }, async () => {
    const cwd = project({
      "skills/sum.ts": `
        /** @example device.SumSkill.add(1, 2)
         *  @example device.SumSkill.add("1", 2)
         *  @example
         *  const three = await device.SumSkill.add(1, 2);
         *  if (three !== 4) throw new Error("three is not four"); */
        export function add(a: number, b: number): number { return a + b; }
        /** @approval user
         *  @example device.SumSkill.pay(1) */
        export function pay(amount: number): number { return amount; }
      `,
    });
    const { exit, stdout } = await skillgate(["skills", "test"], { cwd });
    expect(exit).toBe(1);
    expect(stdout).toMatch(
      /^✓ SumSkill\.add {2}device\.SumSkill\.add\(1, 2\)\n✗ SumSkill\.add {2}device\.SumSkill\.add\("1", 2\)\n/,
    );
    expect(stdout).toContain("ARGUMENTS_INVALID");
    expect(stdout).toContain("three is not four");
    expect(stdout).toContain("– SumSkill.pay  device.SumSkill.pay(1)\n    it needs an approval, which was not given\n");
    expect(stdout).toMatch(/\n1 test passed, 2 failed, 1 skipped\n$/);
  });

  test(
    "run the author's own tests unchanged, in TypeScript, with groups and failures [L11]",
    { tags: "rest" },
    async () => {
      const cwd = project({
        "skills/weather.ts": WEATHER,
        "skills/weather.test.ts": `
        import assert from "node:assert/strict";
        import { describe, it, test } from "node:test";
        import { testSkill, type TestedSkill } from "skillgate/testing";
        import { createRuntime } from "skillgate";
        import { temperature } from "./weather.ts";
        const skill: TestedSkill = await testSkill(new URL("weather.ts", import.meta.url), { settings: { unit: "K" } });
        test("gets its settings", async () => assert.equal(await skill.call("temperature", { city: "Oslo" }), "Oslo 21 K"));
        test("can be imported", () => assert.equal(typeof temperature + typeof createRuntime, "functionfunction"));
        describe("a group", () => {
          it("fails", () => assert.equal(1, 2));
          it.skip("is skipped", () => assert.fail());
        });
      `,
        "skills/other.test.ts": `import { test } from "vitest"; test("x", () => {});`,
        "skills/torn.test.ts": `import { test } from "node:test"; test("x", () => {`,
      });
      const { exit, stdout } = await skillgate(["skills", "test", "--json"], { cwd });
      expect(exit).toBe(1);
      const { results } = JSON.parse(stdout);
      expect(results.map(({ subject, name, outcome }: Record<string, string>) => [subject, name, outcome])).toEqual([
        ["WeatherSkill.temperature", 'device.WeatherSkill.temperature("Paris")', "passed"],
        ["other.test.ts", "", "skipped"],
        ["torn.test.ts", "", "failed"],
        ["weather.test.ts", "gets its settings", "passed"],
        ["weather.test.ts", "can be imported", "passed"],
        ["weather.test.ts", "fails", "failed"],
        ["weather.test.ts", "is skipped", "skipped"],
      ]);
      expect(results[1].why).toBe("it uses vitest; run it with vitest");
      expect(results[5].why).toContain("1 !== 2");
      const named = await skillgate(["skills", "test", "WeatherSkill", "--json"], { cwd });
      expect(JSON.parse(named.stdout).results).toHaveLength(5);
    },
  );

  test(
    "report the files whose tests a test prevents by ending the process of all [L11]",
    { tags: "rest" },
    async () => {
      const first = 'import { test } from "node:test"; test("is fine", () => {}); test("ends", () => process.exit(0));';
      const cwd = project({
        "skills/weather.ts": WEATHER,
        "skills/a.test.ts": first,
        "skills/b.test.ts":
          'import { test } from "node:test"; test("never runs", () => {}); throw new Error("no file");',
        "skills/c.test.ts": 'import { test } from "node:test"; test("never runs", () => {});',
      });
      const { exit, stdout } = await skillgate(["skills", "test", "--json"], { cwd });
      const { results } = JSON.parse(stdout);
      expect(exit).toBe(1);
      expect(results.slice(1).map(({ subject, outcome }: Record<string, string>) => [subject, outcome])).toEqual([
        ["a.test.ts", "failed"],
        ["b.test.ts", "failed"],
        ["c.test.ts", "failed"],
      ]);
      expect(results[3].why).toBe("a test ended the process before all tests had run");
    },
  );

  test("keep an example from changing the project's store [L11]", { tags: "rest" }, async () => {
    const cwd = project();
    const { ok } = await json(cwd, "skills", "test", "--skills", resolve("skills"));
    expect(ok).toBe(true);
    expect(await json(cwd, "call", "MemorySkill.search", "query=trains", "--skills", resolve("skills"))).toMatchObject({
      value: [],
    });
  });
});

describe("skills enable and disable", () => {
  test("store the setting in settings.yaml, with everything else that is in it [L7]", { tags: "rest" }, async () => {
    const text = "# mine\nskills: skills   # the folder\nlimits:\n  calls: 5 # few\n";
    const cwd = project({ "skills/weather.ts": WEATHER, "settings.yaml": text });
    await json(cwd, "skills", "disable", "WeatherSkill");
    expect(readFileSync(join(cwd, "settings.yaml"), "utf8")).toBe(
      "# mine\nskills:\n  dir: skills\n  WeatherSkill:\n    enabled: false\nlimits:\n  calls: 5 # few\n",
    );
    const [listed, run, called, shown] = await Promise.all([
      json(cwd, "skills", "list"),
      skillgate(["run", "-e", "device.WeatherSkill.temperature('Rome')"], { cwd }),
      skillgate(["call", "WeatherSkill.temperature", "city=Rome"], { cwd }),
      json(cwd, "skills", "show", "WeatherSkill"),
    ]);
    const disabled = [{ name: "WeatherSkill", source: "weather.ts" }];
    expect(listed).toEqual({ skills: [], disabled, held: [], problems: [] });
    expect(run.exit).toBe(3);
    expect(run.stderr).toContain("Skill 'WeatherSkill' is disabled (SKILL_DISABLED)");
    expect({ exit: called.exit, stderr: called.stderr }).toEqual({
      exit: 6,
      stderr:
        "Skill 'WeatherSkill' is disabled\nEnable it with: skillgate skills enable <Skill>, or skillgate mcp enable <server>\n",
    });
    expect(shown).toMatchObject({ disabled: true, methods: ["temperature"] });
    await json(cwd, "skills", "enable", "WeatherSkill");
    expect(readFileSync(join(cwd, "settings.yaml"), "utf8")).toBe(
      "# mine\nskills:\n  dir: skills\nlimits:\n  calls: 5 # few\n",
    );
    expect(await json(cwd, "call", "WeatherSkill.temperature", "city=Rome")).toMatchObject({
      value: "Rome 21 celsius",
    });
  });

  test("leave a malformed settings.yaml unchanged [L7]", { tags: "rest" }, async () => {
    const cwd = project({ "skills/weather.ts": WEATHER, "settings.yaml": "skills: [\n" });
    const { exit, stderr } = await skillgate(["skills", "disable", "WeatherSkill"], { cwd });
    expect({ exit, stderr }).toEqual({
      exit: 2,
      stderr: expect.stringMatching(
        /^Cannot read the configuration: settings\.yaml line 2, column 1: .*\nFix the file/,
      ),
    });
    expect(readFileSync(join(cwd, "settings.yaml"), "utf8")).toBe("skills: [\n");
  });

  test("refuses an unknown name, and writes nothing [L7]", async () => {
    const cwd = project({ "skills/weather.ts": WEATHER });
    const { exit } = await skillgate(["skills", "disable", "Weather"], { cwd });
    expect([exit, existsSync(join(cwd, "settings.yaml"))]).toEqual([5, false]);
  });
});

describe("skills settings, show, health and stats", () => {
  test("refuse a setting that the skill could not use [L9]", { tags: "rest" }, async () => {
    const cwd = project({ "skills/weather.ts": WEATHER });
    const set = (...words: readonly string[]) => skillgate(["skills", "settings", "WeatherSkill", ...words], { cwd });
    const refused = (says: string) => ({
      exit: 2,
      stdout: "",
      stderr: expect.stringMatching(`^Cannot change the settings of WeatherSkill: ${says}\n`),
    });
    expect(await set("unit=kelvin")).toMatchObject(
      refused('"unit" must be one of "celsius", "fahrenheit", not "kelvin"'),
    );
    expect(await set("unit=fahrenheit", "nope=1")).toMatchObject(refused('"nope" is not a setting, valid are .*'));
    expect(await set("a.b=1")).toMatchObject(refused('"\\["a.b"\\]" is not a setting, valid are .*'));
    expect(existsSync(join(cwd, "settings.yaml"))).toBe(false);
    expect((await set("unit=${UNIT}")).exit).toBe(0);
    expect(readFileSync(join(cwd, "settings.yaml"), "utf8")).toContain("unit: ${UNIT}");
  });

  test(
    "show settings with their defaults, change them in settings.yaml, and never show secrets [L9]",
    { tags: "rest" },
    async () => {
      const cwd = project({ "skills/weather.ts": WEATHER, ".env": "WEATHER_API_KEY=k-12345\n" });
      const shown = await json(cwd, "skills", "settings", "WeatherSkill");
      expect(shown).toMatchObject({ settings: { unit: "celsius", apiKey: "********" }, problems: [] });
      await json(cwd, "skills", "settings", "WeatherSkill", "unit=fahrenheit");
      expect(await json(cwd, "call", "WeatherSkill.temperature", "city=Rome")).toMatchObject({
        value: "Rome 21 fahrenheit",
      });
      await json(cwd, "skills", "settings", "WeatherSkill", "unit=");
      expect((await json(cwd, "skills", "settings", "WeatherSkill")).settings.unit).toBe("celsius");
      expect(readFileSync(join(cwd, "settings.yaml"), "utf8")).toBe("");
    },
  );

  test("write secrets into .env alone, and never show them [L9, O5]", { tags: "rest" }, async () => {
    const cwd = project({ "skills/weather.ts": WEATHER, ".env": "# mine\nA=1\n" });
    const set = (word: string, input = "", env = {}) =>
      skillgate(["skills", "settings", "WeatherSkill", word], { cwd, input, env });
    const readEnv = (): string => readFileSync(join(cwd, ".env"), "utf8");
    expect(await set("apiKey=123")).toMatchObject({
      exit: 0,
      stdout: "Changed the settings of WeatherSkill in .env\n",
      stderr: "",
    });
    expect(readEnv()).toBe("# mine\nA=1\nWEATHER_API_KEY=123\n");
    expect(await set("apiKey=-", "k 12345\n")).toMatchObject({ exit: 0 });
    expect(readEnv()).toBe("# mine\nA=1\nWEATHER_API_KEY='k 12345'\n");
    expect(existsSync(join(cwd, "settings.yaml"))).toBe(false);
    expect((await json(cwd, "skills", "settings", "WeatherSkill")).settings.apiKey).toBe("********");
    expect(await set("apiKey=other", "", { WEATHER_API_KEY: "k-1" })).toMatchObject({
      exit: 2,
      stderr:
        'Cannot change "apiKey": WEATHER_API_KEY is set in the environment, which counts before .env; change it there\n',
    });
    expect(await set("apiKey=${OTHER_KEY}")).toMatchObject({ exit: 0 });
    expect(readFileSync(join(cwd, "settings.yaml"), "utf8")).toContain("apiKey: ${OTHER_KEY}");
    expect(await set("apiKey=")).toMatchObject({ exit: 0 });
    expect([readEnv(), readFileSync(join(cwd, "settings.yaml"), "utf8")]).toEqual(["# mine\nA=1\n", ""]);
  });

  test("sum statistics over several commands [X6]", { tags: "rest" }, async () => {
    const cwd = project({ "skills/math.js": MATH_SKILL });
    expect((await skillgate(["skills", "stats"], { cwd })).stdout).toBe("No calls recorded yet\n");
    await skillgate(["run", "-e", "device.MathSkill.add(1, 2) + device.MathSkill.add(3, 4)"], { cwd });
    await skillgate(["call", "MathSkill.fail", "why=x"], { cwd });
    const { methods } = await json(cwd, "skills", "stats");
    expect(methods).toMatchObject({
      "MathSkill.add": { total: 2, succeeded: 2, failed: 0 },
      "MathSkill.fail": { total: 1, succeeded: 0, failed: 1 },
    });
    expect((await skillgate(["skills", "stats", "MathSkill"], { cwd })).stdout).toMatch(
      /^method +calls +failed +average +p95 +last used\nMathSkill\.add +2 +0 /,
    );
  });

  test("exit health with 1 while a skill is unhealthy [L8]", { tags: "rest" }, async () => {
    const cwd = project({
      "skills/ill.ts": `export const ask = () => 1; export const healthCheck = () => ({ healthy: false, message: "no disk" });`,
      "skills/well.ts": "export const ask = () => 1;",
    });
    const { exit, stdout } = await skillgate(["skills", "health"], { cwd });
    expect({ exit, stdout }).toEqual({ exit: 1, stdout: "✗ IllSkill   ill.ts   no disk\n✓ WellSkill  well.ts  ok\n" });
    expect((await skillgate(["skills", "health", "WellSkill"], { cwd })).exit).toBe(0);
  });

  test(
    "find a server healthy that is known and not started yet, and leave out one that is disabled [L8]",
    { tags: "rest" },
    async () => {
      const server = { command: process.execPath, args: [resolve("test/fixtures/mcp/metadata.js")] };
      const mcpServers = { metadata: server, off: { ...server, disabled: true } };
      const cwd = project({ ".mcp.json": JSON.stringify({ mcpServers }) });
      const healthy = { exit: 0, stdout: "✓ MetadataMCP  metadata  ok\n" };
      expect(await skillgate(["skills", "health", "MetadataMCP"], { cwd })).toMatchObject(healthy);
      expect(await skillgate(["skills", "health", "MetadataMCP"], { cwd })).toMatchObject(healthy);
      expect((await skillgate(["skills", "health"], { cwd })).stdout).not.toContain("OffMCP");
      const shown = await skillgate(["skills", "show", "MetadataMCP"], { cwd });
      expect(shown).toMatchObject({ exit: 0, stdout: expect.stringContaining("✓ its next call starts it\n") });
      expect(await skillgate(["skills", "disable", "OffMCP"], { cwd })).toMatchObject({ exit: 0 });
    },
  );

  test("print the details of a skill with show [L11]", { tags: "rest" }, async () => {
    const cwd = project({
      "skills/weather/skill.ts": WEATHER,
      "skills/weather/SKILL.md":
        "---\nname: weather\ndescription: Weather of cities\n---\nAsk for one city at a time.\n",
    });
    await skillgate(["call", "WeatherSkill.temperature", "city=Rome"], { cwd });
    const { stdout } = await skillgate(["skills", "show", "WeatherSkill"], { cwd });
    for (const part of [
      "WeatherSkill  weather/skill.ts\nTells the weather.\n✓ ok\n",
      "temperature(city: string): Promise<string>",
      "Guidance\n    Ask for one city at a time.\n",
      'Settings\n    unit    "celsius"  Unit of temperatures\n    apiKey  (not set)  Key of the service\n',
      "WeatherSkill.temperature  1 ",
    ])
      expect(stdout).toContain(part);
  });
});

test("writes declarations that compile with types --out [D5]", { tags: "rest" }, async () => {
  const cwd = project({ "skills/weather.ts": WEATHER });
  const { exit, stdout } = await skillgate(["types", "--out", "skills.d.ts"], { cwd });
  expect({ exit, stdout }).toEqual({ exit: 0, stdout: "Wrote the types to skills.d.ts\n" });
  mkdirSync(join(cwd, "node_modules"), { recursive: true });
  symlinkSync(resolve("node_modules/typescript"), join(cwd, "node_modules/typescript"));
  writeFileSync(
    join(cwd, "use.ts"),
    `const degrees: string = await device.WeatherSkill.temperature("Rome"); export { degrees };`,
  );
  const args = [
    "node_modules/typescript/bin/tsc",
    "--noEmit",
    "--strict",
    "--target",
    "esnext",
    "skills.d.ts",
    "use.ts",
  ];
  expect(spawnSync(process.execPath, args, { cwd, encoding: "utf8" })).toMatchObject({ status: 0, stdout: "" });
  const refused = await skillgate(["types", "--out", "no/such/folder.d.ts"], { cwd });
  expect([refused.exit, refused.stderr.split(":")[0]]).toEqual([2, "Cannot write no/such/folder.d.ts"]);
});
