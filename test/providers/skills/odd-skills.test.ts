import { join } from "node:path";
import { fileURLToPath } from "node:url";

import { afterAll, beforeAll, describe, expect, test } from "vitest";

import { createRuntime, defineSkill, type Runtime } from "../../../src/index.ts";
import { ModuleFiles } from "../../../src/providers/skills/source-files.ts";
import { call, loadFiles } from "./call.ts";

/** Skills in unusual forms that authors write. */
const FOLDER = fileURLToPath(new URL("../../fixtures/odd-skills", import.meta.url));

let runtime: Runtime;
/** Where `ReturnsSkill` runs. */
let runtimes: Readonly<Record<"in a process" | "in this process", Runtime>>;
const logged: string[] = [];

beforeAll(async () => {
  runtime = await createRuntime({
    skillsDir: FOLDER,
    observe: false,
    log: (level, text) => logged.push(`${level} ${text}`),
  });
  const returns = (await import(join(FOLDER, "returns.ts"))) as Readonly<Record<string, () => unknown>>;
  const methods = Object.entries(returns).map(([name, run]) => [name, { description: name, run }]);
  const skill = defineSkill({ name: "ReturnsSkill", description: "", methods: Object.fromEntries(methods) });
  const inThisProcess = await createRuntime({ skillsDir: false, skills: [skill], observe: false });
  runtimes = { "in a process": runtime, "in this process": inThisProcess };
});

afterAll(async () => {
  await Promise.all(Object.values(runtimes).map((each) => each.close()));
});

/** What a program gets that calls the method, or the first line of why not. */
async function called(path: string, args = "", by = runtime): Promise<unknown> {
  const outcome = await by.run(`const value = await device.${path}(${args}); value`);
  if (outcome.kind === "completed") return outcome.value;
  return outcome.kind === "failed" ? outcome.error.message : outcome.text;
}

test("reads methods and comments from files of every form [L1]", () => {
  const outline = runtime.catalog.skills
    .filter(({ name }) => !["ReturnsSkill", "ThrowsSkill", "SchemasSkill", "NoisySkill"].includes(name))
    .map(({ name, source, methods }) => {
      const lines = methods.map(({ name, parameters, description }) => {
        const list = parameters.map((each) => `${each.name}${each.required ? "" : "?"}`).join(", ");
        return `${name}(${list}) ${description}`.trim();
      });
      return [`${source} ${name}`, ...lines];
    });
  expect(outline).toEqual([
    ["my folder.v2/index.js MyFolderV2Skill", "hi(name) Says hi."],
    ["anonymous.ts AnonymousSkill", "ping(times?) Pings."],
    ["beside.ts BesideSkill", "go(a) Goes a way."],
    ["bom.ts BomSkill", "first(a) With a byte order mark.", "second(name) Says hello."],
    ["class.ts ClassSkill", "new(n)", "delete(n)"],
    ["common-default.cjs CommonDefaultSkill", "double(n) Doubles.", "treble(n) Trebles."],
    ["dots.in.name.js DotsInNameSkill", "hi(name) Says hi."],
    ["emoji-🎲.js EmojiSkill", "hi(name) Says hi."],
    ["enums.ts EnumsSkill", "paint(colour, level?, flag?) Paint."],
    ["export-function.ts ExportFunctionSkill", "double(n) Doubles."],
    ["generics.ts GenericsSkill", "pick(items, key) Picks.", "first(list) First.", "unbox(box)", "page(p)"],
    ["hashbang.js HashbangSkill", "hi(name) Says hi."],
    ["jsdoc.js JsdocSkill", "book(trip, legs?, rest?) Books.", "typed(a, b?) Typed as a whole."],
    [
      "members.ts MembersSkill",
      "computed()",
      "must()",
      "arrow(word)",
      "many(to)",
      "some(to?)",
      "later()",
      "inherited(a) Inherited one.",
    ],
    ["overloads.ts OverloadsSkill", "take(a, unit?) Takes a text, or a number of something."],
    ["with space.js WithSpaceSkill", "hi(name) Says hi."],
  ]);
});

test("reports each unreadable part with the reason and a fix [L2]", () => {
  const nothing = "it exports no skill: no class whose name ends in Skill, no function, nothing made by defineSkill";
  const yields = "a method has one result, so any value is taken; return an array";
  const misnamed = "it cannot be called by that name; rename it";
  expect(runtime.problems.map(({ source, error }) => `${source}: ${error}`)).toEqual([
    `stars/index.ts: Cannot load the skill: ${nothing}; re-exports of other files do not count (SKILL_INVALID)`,
    'beside.ts: Cannot offer "lost" as a method: the file also has a class or defineSkill, which takes precedence; make it a method of that, or move it to another file',
    `common-class.cjs: Cannot load the skill: ${nothing}; the name of the class "Counter" does not end in Skill (SKILL_INVALID)`,
    `export-equals.ts: Cannot load the skill: ${nothing} (SKILL_INVALID)`,
    `members.ts: Cannot offer the method "quoted-name" of "MembersSkill" (members.ts:17): ${misnamed}`,
    `members.ts: Cannot offer the method "42" of "MembersSkill" (members.ts:18): ${misnamed}`,
    `members.ts: Cannot offer the method "then" of "MembersSkill" (members.ts:24): ${misnamed}`,
    `members.ts: Cannot read the type "AsyncGenerator<number>" of the result of "MembersSkill.many" (members.ts:21): ${yields}`,
    `members.ts: Cannot read the type "Generator<string>" of the result of "MembersSkill.some" (members.ts:22): ${yields}`,
  ]);
});

test("reports a source that is too large with a fix, and loads the others [L2]", async () => {
  const provider = await loadFiles({
    "huge.ts": `const data = ["${"x".repeat(3 << 20)}"];\nexport const size = (): number => data.length;`,
    "small.ts": "export const size = (): number => 0;",
  });
  expect(provider.skills.map(({ name }) => name)).toEqual(["SmallSkill"]);
  expect(provider.problems).toEqual([
    {
      source: "huge.ts",
      error:
        "Cannot load the skill: its source has 3.0 MB, and the limit is 2 MB; move data to another file (SKILL_INVALID)",
    },
  ]);
});

test.each([
  ["EnumsSkill.paint", '(colour: "red" | "green", level?: 0 | 5 | 6, flag?: 1 | 2): Promise<string>'],
  ["OverloadsSkill.take", '(a: string | number, unit?: "m" | "km"): Promise<string>'],
  ["GenericsSkill.pick", "(items: { id: number }[], key: string): Promise<any>"],
  ["GenericsSkill.unbox", "(box: { value: string; at?: number }): Promise<string>"],
  [
    "JsdocSkill.book",
    "(trip: { from: string; to: string; legs?: { km: number }[] }, legs?: { km: number }[], rest?: string[]): Promise<string>",
  ],
  ["JsdocSkill.typed", '(a: number, b?: "x" | "y"): Promise<string>'],
])("reads the types of %s [L2]", (path, declaration) => {
  expect(runtime.catalog.method(path)?.declaration).toContain(declaration);
});

test.each([
  ["MyFolderV2Skill.hi", '"Ada"', "hi Ada"],
  ["AnonymousSkill.ping", "2", "pingping"],
  ["BomSkill.second", '"Ada"', "hi Ada"],
  ["ClassSkill.new", "2", 4],
  ["ClassSkill.delete", "3", 6],
  ["CommonDefaultSkill.double", "2", 4],
  ["CommonDefaultSkill.treble", "2", 6],
  ["EmojiSkill.hi", '"Ada"', "hi Ada"],
  ["EnumsSkill.paint", '"red"', "red 5 -"],
  ["ExportFunctionSkill.double", "2", 4],
  ["JsdocSkill.book", '{ trip: { from: "a", to: "b" }, legs: [{ km: 3 }], rest: ["c"] }', "a 3 c"],
  ["JsdocSkill.typed", '1, "y"', "1y"],
  ["MembersSkill.inherited", '"x"', "inherited x!"],
  ["MembersSkill.computed", "", 2],
  ["OverloadsSkill.take", "1", "number -"],
])("%s(%s) [L3]", async (path, args, result) => {
  expect(await called(path, args)).toEqual(result);
});

describe.each(["in a process", "in this process"] as const)("results of skills %s", (place) => {
  const from = (method: string): Promise<unknown> => called(`ReturnsSkill.${method}`, "", runtimes[place]);
  const refused = (method: string, what: string): string =>
    `Cannot complete the call: "ReturnsSkill.${method}" did not return plain data: ${what} (CALL_FAILED)`;

  test.each([
    ["instance", { x: 1, y: 2 }],
    ["amount", [{ euros: 1.5 }, { own: "json" }]],
    ["url", { at: "https://example.com/a?b=1" }],
    ["twice", [{ n: 1 }, { n: 1 }]],
    ["map", { a: 1, b: "https://example.com/" }],
    ["set", [1, 2]],
    ["bytes", new Uint8Array([104, 105])],
    ["buffer", new Uint8Array([1, 2])],
    ["floats", [1.5, 2]],
    ["big", [5, "1180591620717411303424"]],
    ["error", { why: { name: "RangeError", message: "as a value", code: "E" } }],
    ["pattern", "/a+/g"],
    ["boxed", [5, "text", true]],
    ["nothing", undefined],
    ["thenable", "settled"],
  ])("passes the result of %s to a program as data [S9]", async (method, value) => {
    expect(await from(method)).toEqual(value);
  });

  test("treats __proto__ as an ordinary key [S9]", async () => {
    const value = await runtimes[place].call("ReturnsSkill.keys", {});
    expect(Object.entries(value as object)).toEqual([
      ["__proto__", "https://example.com/"],
      ["constructor", 1],
    ]);
  });

  test.each([
    ["hidden", '"result.list[0]" is an object of Hidden that holds no plain data'],
    ["response", '"result" is an object of Response that holds no plain data'],
    [
      "circular",
      '"result.self.a" refers back to a value that contains it (a cycle); return only the members that are needed',
    ],
    ["getter", '"result.a" cannot be read: in a getter'],
    ["fn", '"result[0].next" is a function'],
    ["symbol", '"result" is a symbol'],
    ["promise", '"result.p" is a promise; await it'],
    ["generator", '"result" is a generator; return an array'],
    ["weak", '"result" holds its content weakly'],
    ["proxy", '"result" is a Proxy'],
  ])("refuses the result of %s with the path and the reason [L10]", async (method, what) => {
    expect(await from(method)).toBe(refused(method, what));
  });

  test("refuses a result that is nested too deeply with NESTING_LIMIT [S13]", async () => {
    expect(await from("deep")).toBe(
      'The value is nested too deeply: "ReturnsSkill.deep" returned more than 500 levels (NESTING_LIMIT)',
    );
  });
});

test.each([
  ["text", "just text"],
  ["nothing", "threw undefined, which is not an Error"],
  ["object", "an object that says something"],
  ["bare", 'threw {"code":1}, which is not an Error'],
  ["empty", "Error"],
  ["hostile", "an error that cannot be read"],
  ["proxy", "an error that cannot be read"],
  ["forged", "asks for an approval"],
  ["cause", "fetch failed: outer: inner"],
  ["several", "both failed: one; two"],
  ["endless", "round"],
  ["refused", "fetch failed: ECONNREFUSED"],
])("converts every thrown value to an error with a message: %s [L10]", async (method, message) => {
  expect(await called(`ThrowsSkill.${method}`)).toBe(message);
});

test("truncates a long error message [L10]", async () => {
  expect(String(await called("ThrowsSkill.long")).length).toBeLessThanOrEqual(16_384);
});

test("validates with deep, huge, recursive and hostile schemas as far as possible [T6]", { tags: "rest" }, async () => {
  const call = async (method: string, input: Readonly<Record<string, unknown>>): Promise<unknown> =>
    runtime.call(`SchemasSkill.${method}`, input).catch((error: Error) => error.message.replace(/; use .*/, ""));
  const nodes = { list: { value: 1, next: { value: 2 } } };
  expect(await call("refs", nodes)).toEqual(nodes);
  const invalid = "Cannot call a method with these arguments:";
  expect(await call("refs", { list: { value: 1, next: {} } })).toBe(`${invalid} "list.next.value" is required`);
  expect(await call("huge", { p1: "a1" })).toBe(1);
  expect(await call("huge", { p1: "zz" })).toBe(`${invalid} "p1" must be one of "a1", "b", not "zz"`);
  expect(await call("badpattern", { a: "x" })).toBe(
    `${invalid} "a" cannot be checked: the pattern "(" is not a regular expression`,
  );
  expect(await call("redos", { a: `${"a".repeat(40)}!` })).toBe(
    `${invalid} "a" cannot be checked: the pattern "^(a+)+$" takes too long on this value`,
  );
  // More than anybody could read: any arguments are taken, as `skills check` says.
  expect(await call("deep", { x: { a: 1 } })).toBe(1);
});

test("keeps changes of a skill to its process away from the runtime [L10]", async () => {
  const { HOME } = process.env;
  const folder = process.cwd();
  expect(await called("NoisySkill.print", "3")).toBe(3);
  expect(await called("NoisySkill.environment")).toBe("/nowhere");
  expect(await called("NoisySkill.directory")).toBe("/");
  expect(await called("NoisySkill.timers")).toBe("they run");
  expect(await called("NoisySkill.never")).toBe("Tool 'NoisySkill.never' timed out after 0.1s");
  expect(await called("NoisySkill.print", "1")).toBe(1);
  expect([process.env["HOME"], process.cwd()]).toEqual([HOME, folder]);
});

test("restores built-ins that a skill changes, and names the skill [L10]", async () => {
  expect(await called("NoisySkill.pollute")).toBe("done");
  expect(await called("NoisySkill.after", "[1, 2]")).toEqual([[2, 4], "[1,2]", "ext", []]);
  expect(logged.filter((line) => line.includes("was restored"))).toEqual([
    "warn NoisySkill.pollute has changed Object.prototype.hacked, which all skills share; it was restored",
  ]);
  expect(await called("EmojiSkill.hi", '"Ada"')).toBe("hi Ada");
});

test("keeps polyfills that a module adds at import [L10]", async () => {
  const provider = await loadFiles({
    "adding.ts": `
      Object.defineProperty(Array.prototype, "sum", { value() { return this.reduce((a, b) => a + b, 0); }, configurable: true });
      const { trim } = String.prototype;
      String.prototype.trim = function () { return trim.call(this).toUpperCase(); };
      export const sum = (list: number[]): number => (list as unknown as { sum(): number }).sum();
      export const loud = (text: string): string => text.trim();`,
  });
  await expect(call(provider, "AddingSkill.sum", { list: [1, 2] })).resolves.toBe(3);
  await expect(call(provider, "AddingSkill.sum", { list: [3, 4] })).resolves.toBe(7);
  await expect(call(provider, "AddingSkill.loud", { text: " a " })).resolves.toBe("A");
  await expect(call(provider, "AddingSkill.loud", { text: " b " })).resolves.toBe("B");
});

test.skipIf(process.platform === "win32")("never reads a device that a link of a project leads to [P6]", async () => {
  const importText = (name: string, from: string): string =>
    `import text from "${from}"; export default class ${name} { /** Hi. */ hi() { return text; } }`;
  const { problems } = await loadFiles({
    "first.ts": importText("FirstSkill", "./linked.js"),
    "second.ts": importText("SecondSkill", "linked"),
    "third.ts": importText("ThirdSkill", "./notes.txt"),
    "linked.js": "->/dev/null",
    "node_modules/linked/package.json": "->/dev/null",
    "notes.txt": "notes",
  });
  expect(Object.fromEntries(problems.map(({ source, error }) => [source, error]))).toEqual({
    "linked.js": expect.stringContaining("it is a symbolic link that leaves the skills folder"),
    "first.ts": expect.stringContaining('Could not resolve "./linked.js"'),
    "second.ts": expect.stringContaining('the package "linked" is not installed'),
    "third.ts": expect.stringContaining('Could not resolve "./notes.txt"'),
  });
  expect(() => new ModuleFiles().read("/dev/null")).toThrow("/dev/null is not a regular file");
});
