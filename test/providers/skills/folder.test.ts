import { existsSync } from "node:fs";
import { mkdir, rename, rm, symlink, writeFile } from "node:fs/promises";
import { join } from "node:path";

import { describe, expect, test } from "vitest";

import { call, load, loadFiles, temporaryFolder, writeFiles } from "./call.ts";

const ONE = "export const one = () => 1;";

describe("a skills folder", () => {
  test("reads a missing folder without skills and problems [L4]", async () => {
    const folder = await temporaryFolder();
    const provider = await load(join(folder, "nowhere"), { cacheDir: join(folder, "cache") });
    expect([provider.skills, provider.problems, await provider.health()]).toEqual([[], [], []]);
  });

  test("reports a folder that is a file [L4]", async () => {
    const folder = await temporaryFolder();
    await writeFile(join(folder, "skills"), "");
    const provider = await load(join(folder, "skills"), { cacheDir: join(folder, "cache") });
    expect(provider.problems).toEqual([
      { source: "skills", error: "Cannot load the skill: it is not a folder (SKILL_INVALID)" },
    ]);
  });

  test.each([
    ["skill.ts", "weather.ts"],
    ["skill.js", "main.ts"],
    ["weather.ts", "main.ts"],
    ["weather.js", "index.ts"],
    ["main.ts", "index.ts"],
    ["main.js", "index.js"],
    ["index.ts", "index.js"],
    ["index.js", "helper.ts"],
  ])("prefers %s to %s as the entry of a folder [L1]", { tags: "rest" }, async (entry, other) => {
    const provider = await loadFiles({
      [`weather/${entry}`]: ONE,
      [`weather/${other}`]: "throw new Error('not this one');",
    });
    expect(provider.skills.map(({ name, source }) => [name, source])).toEqual([["WeatherSkill", `weather/${entry}`]]);
    expect(provider.problems).toEqual([]);
  });

  test("uses the health check of a module for skills without one of their own [L8]", async () => {
    const check = (message: string): string =>
      `export async function healthCheck() { return { healthy: false, message: "${message}" }; }`;
    const definition = "name: 'SELFSkill', description: 'd', methods: { one: { description: 'd', run: () => 1 } }";
    const define = `import { defineSkill } from "skillgate"; export const made = defineSkill({ ${definition}`;
    const provider = await loadFiles({
      "beside.ts": `export class BesideSkill { one() { return 1; } } ${check("no disk")}`,
      "common.cjs": `exports.CommonSkill = class CommonSkill { one() { return 1; } };
        exports.healthCheck = () => ({ healthy: false, message: "no memory" });`,
      "made.ts": `${define.replace("SELF", "Made")} }); ${check("no net")}`,
      "own-made.ts": `${define.replace("SELF", "OwnMade")}, healthCheck: () => ({ healthy: true, message: "own" }) }); ${check("no")}`,
      "own.ts": `export class OwnSkill { one() { return 1; } healthCheck() { return { healthy: true, message: "own" }; } }
        ${check("no")}`,
      "plain.ts": "export class PlainSkill { one() { return 1; } }",
    });
    const health = await provider.health();
    expect(health.map(({ skill, healthy, message }) => [skill, healthy, message])).toEqual([
      ["BesideSkill", false, "no disk"],
      ["CommonSkill", false, "no memory"],
      ["MadeSkill", false, "no net"],
      ["OwnMadeSkill", true, "own"],
      ["OwnSkill", true, "own"],
      ["PlainSkill", true, "ok"],
    ]);
    expect(provider.skills.flatMap(({ methods }) => methods.map(({ name }) => name))).not.toContain("healthCheck");
    expect(provider.problems).toEqual([]);
  });

  test("ignores names that begin with a dot or an underscore, declarations, tests and other files [L1]", async () => {
    const provider = await loadFiles({
      ".hidden.ts": ONE,
      "_private.ts": ONE,
      "_helpers/index.ts": ONE,
      ".git/index.ts": ONE,
      "node_modules/a/index.js": ONE,
      "types.d.ts": "export declare const a: string;",
      "one.test.ts": ONE,
      "one.spec.js": ONE,
      "README.md": "# Skills",
      "data/numbers.json": "[]",
      "one.ts": ONE,
    });
    expect(provider.skills.map(({ source }) => source)).toEqual(["one.ts"]);
    expect(provider.problems).toEqual([]);
  });

  test("follows symbolic links within the folder, and refuses links out of it [L1]", async () => {
    const provider = await loadFiles({
      "../outside/secret.ts": "export const secret = 'out of reach';",
      "../outside/SKILL.md": "Secret guidance",
      "_real/inner.ts": "import { helper } from './helper.ts';\nexport const inner = () => helper;",
      "_real/helper.ts": "export const helper = 'inside';",
      "link.ts": "->_real/inner.ts",
      "out.ts": "->../outside/secret.ts",
      "guided/skill.ts": ONE,
      "guided/SKILL.md": "->../../outside/SKILL.md",
      "entry/skill.ts": "->../../outside/secret.ts",
      "import/skill.ts": "import { secret } from './link.ts';\nexport const tell = () => secret;",
      "import/link.ts": "->../../outside/secret.ts",
      "loop.ts": "->loop.ts",
    });
    expect(provider.skills.map(({ name, source, guidance }) => [name, source, guidance])).toEqual([
      ["GuidedSkill", "guided/skill.ts", undefined],
      ["LinkSkill", "link.ts", undefined],
    ]);
    await expect(call(provider, "LinkSkill.inner")).resolves.toBe("inside");
    const leaves = "Cannot load the skill: it is a symbolic link that leaves the skills folder (SKILL_INVALID)";
    expect(provider.problems).toEqual([
      { source: "loop.ts", error: "Cannot load the skill: it is a broken symbolic link (SKILL_INVALID)" },
      { source: "out.ts", error: leaves },
      { source: "entry/skill.ts", error: leaves },
      { source: "guided/SKILL.md", error: leaves },
      {
        source: "import/skill.ts",
        error:
          'Cannot load the skill: line 1, column 24: "./link.ts" is a symbolic link that leaves the skills folder (SKILL_INVALID)',
        frame: expect.stringMatching(/^> 1 \| import .*\n +\| +\^$/m),
      },
    ]);
  });

  test("accepts a folder that is a symbolic link [L1]", async () => {
    const folder = await temporaryFolder();
    await writeFiles(join(folder, "real"), { "one.ts": ONE, "bad.ts": "throw new Error('here');" });
    await symlink(join(folder, "real"), join(folder, "skills"));
    const provider = await load(join(folder, "skills"), { cacheDir: join(folder, "cache") });
    expect(provider.skills.map(({ source }) => source)).toEqual(["one.ts"]);
    expect(provider.problems).toEqual([
      { source: "bad.ts", error: "Cannot load the skill: it failed at import, line 1: here (SKILL_INVALID)" },
    ]);
  });

  test("uses the first of several skills with one name: folders before files, then by name [L5]", async () => {
    const same = (from: string): string => `export class SameSkill { from() { return "${from}"; } }`;
    const provider = await loadFiles({
      "a.ts": same("a.ts"),
      "b.ts": same("b.ts"),
      "z/index.ts": same("z"),
      "y/index.ts": `${same("y")} export class OtherSkill { x() {} }`,
    });
    await expect(call(provider, "SameSkill.from")).resolves.toBe("y");
    expect(provider.skills.map(({ name }) => name)).toEqual(["SameSkill", "OtherSkill"]);
    expect(provider.problems).toEqual(
      ["z/index.ts", "a.ts", "b.ts"].map((source) => ({
        source,
        error: 'Cannot load the skill: "SameSkill" is already taken by "y/index.ts" (SKILL_INVALID)',
      })),
    );
  });

  test("resolves skillgate from the runtime, and packages from the folder of the skill [L2]", async () => {
    const provider = await loadFiles({
      "tidy.js":
        'import { defineSkill } from "skillgate";\nimport { two } from "number-two";\nexport default defineSkill({ name: "TidySkill", description: "", methods: { two: { description: "", run: () => two } } });',
      "../node_modules/number-two/package.json": '{ "name": "number-two", "exports": { "import": "./two.mjs" } }',
      "../node_modules/number-two/two.mjs": "export const two = 2;",
      "common.cjs": 'const { two } = require("number-three");\nexports.two = () => two;',
      "../node_modules/number-three/index.js": "exports.two = 2;",
    });
    await expect(call(provider, "TidySkill.two")).resolves.toBe(2);
    await expect(call(provider, "CommonSkill.two")).resolves.toBe(2);
    expect(provider.problems).toEqual([]);
  });

  test("caches compiled files until one of their source files changes [L1]", { tags: "rest" }, async () => {
    const folder = await temporaryFolder();
    const skills = join(folder, "skills");
    const cacheDir = join(folder, "cache");
    await writeFiles(skills, {
      "a.ts":
        "import { b } from './_lib/b.ts';\nimport type { T } from './_lib/t.ts';\nexport const get = (x?: T) => b;",
      "_lib/b.ts": "export const b = 1;",
      "_lib/t.ts": "export type T = string;",
    });
    const results: unknown[] = [];
    for (const change of [{}, {}, { "_lib/b.ts": "export const b = 2;" }, { "_lib/t.ts": "export type T = number;" }]) {
      await writeFiles(skills, change);
      const provider = await load(skills, { cacheDir });
      results.push([await call(provider, "ASkill.get"), provider.skills[0]?.methods[0]?.input["properties"]]);
      await provider.close();
    }
    expect(results).toEqual([
      [1, { x: { type: "string" } }],
      [1, { x: { type: "string" } }],
      [2, { x: { type: "string" } }],
      [2, { x: { type: "number" } }],
    ]);
  });

  test("works with a cache that cannot be written [L1]", async () => {
    const folder = await temporaryFolder();
    await writeFile(join(folder, "cache"), "a file, where a folder is wanted");
    await writeFiles(join(folder, "skills"), { "one.ts": ONE });
    const provider = await load(join(folder, "skills"), { cacheDir: join(folder, "cache") });
    await expect(call(provider, "OneSkill.one")).resolves.toBe(1);
  });

  test.skipIf(!existsSync("/proc/self"))("works with a cache that is full [L1]", async () => {
    const provider = await loadFiles({ "one.ts": ONE }, { cacheDir: "/proc/self" });
    expect(provider.problems).toEqual([]);
    await expect(call(provider, "OneSkill.one")).resolves.toBe(1);
  });
});

describe("a skills folder that is watched", () => {
  async function watched(files: Readonly<Record<string, string>>) {
    const folder = await temporaryFolder();
    const skills = join(folder, "skills");
    await writeFiles(skills, files);
    const logged: string[] = [];
    const log = (level: string, text: string): void => void logged.push(`${level} ${text}`);
    const provider = await load(skills, { cacheDir: join(folder, "cache"), watch: true, log });
    const state = (): unknown =>
      provider.skills.map(({ name, methods }) => `${name}: ${methods.map((method) => method.name).join(" ")}`);
    return { provider, skills, state, logged };
  }

  test("loads new, changed and renamed files, and removes deleted ones [L6]", async () => {
    const { provider, skills, state } = await watched({ "a.ts": ONE });
    const one = provider.skills[0];
    await writeFiles(skills, {
      "b/index.ts": "import { two } from './lib/two.ts';\nexport const get = () => two;",
      "b/lib/two.ts": "export const two = 2;",
    });
    await expect.poll(state).toEqual(["BSkill: get", "ASkill: one"]);
    expect(provider.skills[1]).toBe(one);

    await writeFiles(skills, { "b/lib/two.ts": "export const two = 22;" });
    await expect.poll(() => call(provider, "BSkill.get")).toBe(22);

    await writeFiles(skills, { "a.ts": "export const other = () => 'other';" });
    await expect.poll(state).toEqual(["BSkill: get", "ASkill: other"]);

    await rename(join(skills, "b"), join(skills, "_b"));
    await expect.poll(state).toEqual(["ASkill: other"]);

    await rm(join(skills, "a.ts"));
    await expect.poll(state).toEqual([]);
    expect(provider.problems).toEqual([]);
  });

  test("keeps the last good version after a broken save, and reports and logs the mistake [L6]", async () => {
    const { provider, skills, logged } = await watched({
      "a.ts": "export const get = () => 1;",
      "c.ts": "export class CSkill { get() { return 1; } }",
    });
    for (const [name, text, error] of [
      ["a.ts", "export const get = () => ;", "line 1, column 26: Unexpected token"],
      ["a.ts", "export const get = () => 2;\nthrow new Error('not now');", "it failed at import, line 2: not now"],
      [
        "a.ts",
        "const get = () => 3;",
        "it exports no skill: no class whose name ends in Skill, no function, nothing made by defineSkill",
      ],
      [
        "c.ts",
        "export class CSkill { constructor() { throw new Error('unmade'); } get() { return 2; } }",
        "it failed at import, line 1: unmade",
      ],
    ] as const) {
      await writeFiles(skills, { [name]: text });
      await expect
        .poll(() => provider.problems.map((problem) => `${problem.source}: ${problem.error}`))
        .toContain(`${name}: Cannot load the skill: ${error} (SKILL_INVALID)`);
      expect(logged.splice(0)).toContain(`warn ${name}: Cannot load the skill: ${error} (SKILL_INVALID)`);
      await expect(call(provider, `${name.charAt(0).toUpperCase()}Skill.get`)).resolves.toBe(1);
    }
    await writeFiles(skills, {
      "a.ts": "export const get = () => 4;",
      "c.ts": "export class CSkill { get() { return 4; } }",
    });
    await expect.poll(() => provider.problems).toEqual([]);
    await expect(Promise.all([call(provider, "ASkill.get"), call(provider, "CSkill.get")])).resolves.toEqual([4, 4]);
  });

  test(
    "keeps the last good version of all skills after a save that ends the process [L6]",
    { tags: "rest" },
    async () => {
      const { provider, skills } = await watched({
        "a.ts": "export const get = () => 1;",
        "b.ts": "export const get = () => 'b';",
      });
      await writeFiles(skills, { "a.ts": "process.kill(process.pid, 'SIGKILL');\nexport const get = () => 2;" });
      await expect.poll(() => provider.problems.length, { timeout: 10_000 }).toBe(1);
      await expect(Promise.all([call(provider, "ASkill.get"), call(provider, "BSkill.get")])).resolves.toEqual([
        1,
        "b",
      ]);
    },
  );

  test("finds a folder that is created later [L6]", async () => {
    const folder = await temporaryFolder();
    const provider = await load(join(folder, "skills"), { cacheDir: join(folder, "cache"), watch: true });
    await mkdir(join(folder, "skills"));
    await writeFiles(join(folder, "skills"), { "late.ts": ONE });
    await expect.poll(() => provider.skills.map(({ name }) => name)).toEqual(["LateSkill"]);
  });
});

describe("a file that imports nothing", () => {
  test("accepts a nameless class and top-level await, and runs in strict mode like an ES module, with its own __filename [L1]", async () => {
    const provider = await loadFiles({
      "nameless.ts": "export default class { one(): number { return 1; } }",
      "waits.ts": "const value = await Promise.resolve(7); export const seven = (): number => value;",
      "strict.ts": `
        export const loose = (): string => { try { undeclared = 1; return "loose"; } catch { return "strict"; } };
        export const place = (): string => __filename.split("/").at(-1) ?? "";
      `,
    });
    expect(provider.problems).toEqual([]);
    await expect(call(provider, "NamelessSkill.one")).resolves.toBe(1);
    await expect(call(provider, "WaitsSkill.seven")).resolves.toBe(7);
    await expect(call(provider, "StrictSkill.loose")).resolves.toBe("strict");
    await expect(call(provider, "StrictSkill.place")).resolves.toBe("strict.ts");
  });
});
