import { fileURLToPath } from "node:url";

import { afterAll, beforeAll, describe, expect, test } from "vitest";

import { loadSkills, type SkillsProvider } from "../../../src/providers/skills/index.ts";
import { call as callMethod, findSkill } from "./call.ts";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";

/** A folder of skills that are awkward in every way that skills can be. */
const FOLDER = fileURLToPath(new URL("../../fixtures/skills", import.meta.url));

let provider: SkillsProvider;
let cacheDir: string;
const logged: string[] = [];

beforeAll(async () => {
  cacheDir = await mkdtemp(join(tmpdir(), "skillgate-test-"));
  provider = await loadSkills(FOLDER, {
    cacheDir,
    importTimeoutMs: 2_000,
    isolated: ["CircularSkill", "SchemaSkill"],
    log: (level, text) => logged.push(`${level}: ${text}`),
  });
});

afterAll(async () => {
  await provider.close();
  await rm(cacheDir, { recursive: true });
});

async function call(path: string, input: Readonly<Record<string, unknown>> = {}): Promise<unknown> {
  return callMethod(provider, path, input, { signal: AbortSignal.timeout(5_000), settings: { unit: "!" } });
}

const NOTHING = "it exports no skill: no class whose name ends in Skill, no function, nothing made by defineSkill";

describe("a folder of awkward skills", () => {
  test("loads the valid files, folders before files, in the order of their names [L1]", () => {
    const outline = provider.skills.map(({ name, source, methods }) => {
      const names = methods.map((method) => method.name);
      return `${source} ${name}: ${names.length > 20 ? names.length : names.join(" ")}`;
    });
    expect(outline).toEqual([
      "circular/index.ts CircularSkill: ping",
      "data-beside/index.ts DataBesideSkill: read numbers",
      "guided/skill.ts GuidedSkill: step",
      "inherits/inherits.ts InheritsSkill: own replaced echo",
      "inherits/inherits.ts EmitterSkill: shout",
      "shared-types/skill.ts SharedTypesSkill: draw",
      "3d-print.ts Skill3dPrint: run3dPrint",
      "ai-tools.ts AiToolsSkill: weather count",
      "awaits-at-import.ts AwaitsAtImportSkill: state",
      "beyond-the-parser.ts BeyondTheParserSkill: twice",
      "bomb.ts BombSkill: explode",
      "common.cjs CommonSkill: join isPosix",
      "crowd.ts CrowdSkill: 300",
      "documented.js DocumentedSkill: book forecast",
      "größe.ts GrößeSkill: berechneFläche",
      "hangs-at-import.ts HangsSkill: never",
      "legacy.js LegacySkill: shout",
      "mcp-tools.mjs McpToolsSkill: add_numbers fail",
      "misbehaving.ts MisbehavingSkill: spin exit kill eat throwLater rejectLater leak callback path talk garble until untilCancelled",
      "plain.mjs PlainSkill: greet",
      "schema.ts SchemaSkill: repeat now",
      "several.ts FirstSkill: one",
      "several.ts ThirdSkill: three",
      "spins-at-import.js SpinsSkill: never",
      "throwing-constructor.ts MadeSkill: works",
      "tricks.ts TricksSkill: computed pollute delete",
      "twice-a.ts TwiceSkill: which",
      "unreadable.ts UnreadableSkill: fromPackage ofValue withFunction untyped fine",
      "天気.ts 天気Skill: 予報",
    ]);
  });

  test("reports each file that cannot be loaded with its reason and line [L4]", () => {
    const failures = provider.problems.filter(({ error }) => error.startsWith("Cannot load the skill: "));
    expect(
      failures.map(({ source, error }) => [
        source,
        error.replace(/^Cannot load the skill: (.*) \(SKILL_INVALID\)$/, "$1"),
      ]),
    ).toEqual([
      ["dangling.ts", "it is a broken symbolic link"],
      ["escape-folder", "it is a symbolic link that leaves the skills folder"],
      ["escape.ts", "it is a symbolic link that leaves the skills folder"],
      ["no-entry", "it has no entry, such as skill.ts, no-entry.ts, main.ts, index.ts or SKILL.md"],
      [
        "throws-in-helper/index.ts",
        "it failed at import, throws-in-helper/lib/helper.ts, line 1: the helper is broken",
      ],
      ["abstract.ts", NOTHING],
      ["bad-definition.ts", '"BadDefinitionSkill.add" has the unknown field timeout; did you mean timeoutMs?'],
      ["broken-syntax.ts", "line 2, column 10: Unexpected token"],
      ["dies-at-import.mjs", "at import, the skill process ended by SIGTERM"],
      ["empty.ts", '"EmptySkill" has no public methods'],
      ["exits-at-import.ts", "it failed at import, line 1: called process.exit(0), but a skill cannot end the program"],
      [
        "hangs-at-import.ts",
        "at import, it did not finish within 2 s; it is imported only when one of its methods is called, or when it changes",
      ],
      ["missing-import.ts", 'line 1, column 19: Could not resolve "./nowhere.ts"'],
      [
        "missing-package.ts",
        'it failed at import: the package "package-that-is-not-there" is not installed; run npm i package-that-is-not-there',
      ],
      ["not-exported.ts", `${NOTHING}; the class "NotExportedSkill" in line 3 is not exported`],
      ["nothing.ts", NOTHING],
      ["reexported.ts", `${NOTHING}; re-exports of other files do not count`],
      [
        "spins-at-import.js",
        "at import, it did not finish within 2 s; it is imported only when one of its methods is called, or when it changes",
      ],
      ["throwing-constructor.ts", 'the constructor of "UnmadeSkill" failed, line 3: cannot be made'],
      ["throws-at-import.ts", "it failed at import, line 6: no key"],
      ["wrong-name.ts", `${NOTHING}; the name of the class "Weather" does not end in Skill`],
      ["twice-b.ts", '"TwiceSkill" is already taken by "twice-a.ts"'],
    ]);
  });

  test("reports each unreadable type with its position and what to write instead [L2]", () => {
    const warnings = provider.problems.filter(({ error }) => !error.startsWith("Cannot load the skill: "));
    const any = "so any value is taken; write it out as plain data, such as { city: string }";
    expect(warnings.map(({ source, error }) => [source, error.replace(/^Cannot read /, "")])).toEqual([
      [
        "beyond-the-parser.ts",
        "the types of this file: line 5, column 3: This member cannot have an 'override' modifier because its containing class does not extend another class; every parameter accepts any value until that code is simplified",
      ],
      ["bomb.ts", `the type of parameter "bomb" of "BombSkill.explode" (bomb.ts:2): it expands without end, ${any}`],
      [
        "plain.mjs",
        'the type of parameter "name" of "PlainSkill.greet" (plain.mjs:3): no type is declared, so any value is taken; add @param {string} name, or whatever it is, to its doc comment',
      ],
      [
        "tricks.ts",
        'Cannot offer the method "then" of "TricksSkill" (tricks.ts:11): it cannot be called by that name; rename it',
      ],
      [
        "unreadable.ts",
        `the type "ZodType" of parameter "schema" of "UnreadableSkill.fromPackage" (unreadable.ts:16): it comes from the package "zod", ${any}`,
      ],
      [
        "unreadable.ts",
        `the type "Stats" of parameter "stats" of "UnreadableSkill.fromPackage" (unreadable.ts:16): it comes from the package "node:fs", ${any}`,
      ],
      [
        "unreadable.ts",
        `the type "typeof DEFAULTS" of parameter "options" of "UnreadableSkill.ofValue" (unreadable.ts:18): its value is only known when the skill runs, ${any}`,
      ],
      [
        "unreadable.ts",
        `the type "ReturnType<typeof make>" of the result of "UnreadableSkill.ofValue" (unreadable.ts:18): it is not declared in the skill, ${any}`,
      ],
      [
        "unreadable.ts",
        'the type "(item: string) => void" of parameter "each" of "UnreadableSkill.withFunction" (unreadable.ts:22): functions cannot be passed, so any value is taken; use plain data instead',
      ],
      [
        "unreadable.ts",
        `the type "Point" of parameter "point" of "UnreadableSkill.withFunction" (unreadable.ts:22): instances of a class cannot be passed, ${any}`,
      ],
      [
        "unreadable.ts",
        'the type "Date" of parameter "when" of "UnreadableSkill.withFunction" (unreadable.ts:22): only a parameter itself can be a Date, so any value is taken; write string, and create the Date in the method',
      ],
      [
        "unreadable.ts",
        'a tag of "UnreadableSkill.untyped" (unreadable.ts:24): @timeout expects a duration such as 500ms, 5s or 2m',
      ],
      [
        "unreadable.ts",
        'the type of parameter "anything" of "UnreadableSkill.untyped" (unreadable.ts:25): no type is declared, so any value is taken; write anything: string, or whatever it is',
      ],
    ]);
  });

  test.each<[path: string, input: Readonly<Record<string, unknown>>, result: unknown]>([
    ["CircularSkill.ping", { from: 4 }, ["pong 4", "pong 5", "pong 6"]],
    ["CircularSkill.ping", {}, ["pong 0", "pong 1", "pong 2"]],
    ["DataBesideSkill.read", {}, "words from a file"],
    ["DataBesideSkill.numbers", {}, [1, 2, 3]],
    ["InheritsSkill.echo", { value: "again" }, "again"],
    ["InheritsSkill.replaced", {}, "replaced"],
    ["EmitterSkill.shout", { word: "loud" }, 4],
    [
      "SharedTypesSkill.draw",
      { shape: { points: [{ x: 1, y: 2 }] }, colour: "red" },
      { items: [{ x: 1, y: 2 }], next: "red-fill" },
    ],
    ["Skill3dPrint.run3dPrint", { layers: 3 }, "3 layers"],
    ["AiToolsSkill.weather", { city: "Rome" }, { city: "Rome", degrees: 20, toolCallId: "run/1" }],
    ["AiToolsSkill.count", { to: 3 }, 3],
    ["AwaitsAtImportSkill.state", {}, "ready"],
    ["BeyondTheParserSkill.twice", { value: 4 }, 8],
    ["CommonSkill.join", { words: ["a", "b"] }, "a, b"],
    ["CommonSkill.isPosix", {}, true],
    ["CrowdSkill.method300", { value: 2 }, 600],
    [
      "DocumentedSkill.book",
      { trip: { from: "Paris", to: "Rome" }, note: null, guests: ["Ada", "Bob"] },
      { id: 2, trip: { from: "Paris", to: "Rome", note: null } },
    ],
    ["DocumentedSkill.forecast", { city: "Rome" }, "Rome c ada"],
    ["GrößeSkill.berechneFläche", { länge: 2, breite: 3 }, 6],
    ["LegacySkill.shout", { text: "hey" }, "HEY!"],
    ["McpToolsSkill.add_numbers", { a: 1 }, { sum: 2 }],
    ["PlainSkill.greet", { name: "Ada" }, "Hello, Ada"],
    ["SchemaSkill.repeat", { word: "ho" }, "hoho!"],
    ["SchemaSkill.now", {}, "ada"],
    ["FirstSkill.one", {}, 1],
    ["ThirdSkill.three", {}, 3],
    ["MadeSkill.works", {}, true],
    ["TricksSkill.delete", { id: "7" }, "deleted 7"],
    ["TwiceSkill.which", {}, "a"],
    ["天気Skill.予報", {}, "東京は晴れ"],
  ])("%s(%j) [L3]", async (path, input, result) => {
    await expect(call(path, input)).resolves.toEqual(result);
  });

  test("throws the text of a tool that returns an error [L3]", async () => {
    await expect(call("McpToolsSkill.fail")).rejects.toThrow(/^no luck$/);
  });

  test("leaves prototypes unchanged, in this process and in results [L10]", async () => {
    const input = JSON.parse('{"__proto__": "text", "constructor": {"__proto__": 1, "toString": "own"}}') as Record<
      string,
      unknown
    >;
    const result = (await call("TricksSkill.computed", input)) as Record<string, unknown>;
    expect(Object.keys(result)).toEqual(["constructor", "__proto__"]);
    expect(Object.getPrototypeOf(result)).toBe(Object.prototype);
    await call("TricksSkill.pollute");
    expect(({} as Record<string, unknown>)["polluted"]).toBeUndefined();
  });

  test("reports the health of each skill, including those that did not start [L8]", async () => {
    const health = await provider.health();
    expect(health).toContainEqual({ skill: "FirstSkill", source: "several.ts", healthy: true, message: "ok" });
    expect(health).toContainEqual({
      skill: "SchemaSkill",
      source: "schema.ts",
      healthy: false,
      message: "out of words",
    });
    expect(health).toContainEqual({
      skill: "UnmadeSkill",
      source: "throwing-constructor.ts",
      healthy: false,
      message: "Skill failed to instantiate",
    });
    expect(health.filter(({ message }) => message === "Skill failed to instantiate").map(({ skill }) => skill)).toEqual(
      [
        "ThrowsInHelperSkill",
        "BadDefinitionSkill",
        "BrokenSyntaxSkill",
        "DiesSkill",
        "ExitsSkill",
        "MissingImportSkill",
        "MissingPackageSkill",
        "UnmadeSkill",
        "ThrowsSkill",
      ],
    );
  });

  test("reads SKILL.md beside a module as its guidance [L1]", () => {
    expect(findSkill(provider, "GuidedSkill")).toMatchObject({
      description: "Goes step by step",
      guidance: "# How to use it\n\nBegin with step 1.",
    });
  });

  test("reads the annotations of a tool [T1]", () => {
    expect(findSkill(provider, "McpToolsSkill").methods[0]).toEqual({
      name: "add_numbers",
      description: "Adds",
      input: {
        type: "object",
        properties: { a: { type: "number" }, b: { type: "number" } },
        required: ["a"],
        additionalProperties: false,
      },
      metadata: { readOnly: true },
    });
  });
});
