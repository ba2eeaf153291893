import { readFileSync } from "node:fs";
import { afterAll, describe, expect, test } from "vitest";

import { createSandbox } from "../../sandbox/index.ts";
import {
  BUILTIN_MEMBERS,
  GLOBALS,
  NODES,
  REFUSED_GLOBALS,
  REFUSED_MEMBERS,
} from "../../src/gatekeeper/rules/allowlist.ts";
import { DEFAULT_LIMITS } from "../../src/model/limits.ts";
import { check, sourceText } from "./stubs.ts";

const sandbox = createSandbox({ limits: { ...DEFAULT_LIMITS, wallMs: 5_000 }, workers: 1 });
afterAll(() => sandbox.close());

/** What a guest finds, as the sandbox's own tests keep it: one path a line. */
const inGuest = readFileSync(new URL("../sandbox/guest-globals.txt", import.meta.url), "utf8").split("\n");

/** What objects and functions have anyway, and nobody calls on a builtin; and the symbols that `Symbol` holds. */
const FROM_PROTOTYPES: ReadonlySet<string> = new Set(
  `constructor caller arguments fileName lineNumber columnNumber isPrototypeOf propertyIsEnumerable toLocaleString valueOf
   __defineGetter__ __defineSetter__ __lookupGetter__ __lookupSetter__ __proto__ asyncIterator hasInstance
   isConcatSpreadable iterator match matchAll replace search species split toPrimitive toStringTag unscopables`.split(
    /\s+/,
  ),
);

describe("keeps the tables of the gatekeeper and the globals of the sandbox consistent [S5]", () => {
  test("allows a global exactly if the guest has it [S5]", () => {
    const found = new Set(inGuest.flatMap((line) => /^\.(\w+)$/.exec(line)?.[1] ?? []));
    for (const name of found)
      if (name.startsWith("__wait") || ["Function", "globalThis"].includes(name)) found.delete(name);
    expect(GLOBALS).toEqual(found);
  });

  test("lists the members that each builtin has in the guest [S5]", async () => {
    const names = Object.keys(BUILTIN_MEMBERS);
    const code = `const owners = { ${names.join(", ")} };
      const namesOf = (value) => value === null ? [] : [...Object.getOwnPropertyNames(value), ...namesOf(Object.getPrototypeOf(value))];
      return Object.fromEntries(Object.entries(owners).map(([name, owner]) => [name, namesOf(owner)]));`;
    const { end } = await sandbox.run({ code, paths: [] }, () => Promise.resolve({ ok: true, json: "null" }));
    const found = JSON.parse(end.kind === "returned" ? end.json : "{}") as Record<string, readonly string[]>;
    for (const name of names) {
      const members = BUILTIN_MEMBERS[name] ?? new Set();
      const has = new Set(found[name]);
      expect(
        [...members].filter((member) => !has.has(member) && member !== "prototype"),
        `${name} has not`,
      ).toEqual([]);
      const callable = [...has].filter((member) => !members.has(member) && !FROM_PROTOTYPES.has(member));
      expect(callable, `${name} has besides`).toEqual([]);
    }
  });

  test("never allows and refuses the same name, and gives every refusal its own sentence [S5]", () => {
    for (const [name, { fix }] of REFUSED_GLOBALS) {
      expect(GLOBALS.has(name), name).toBe(false);
      expect(fix, name).toMatch(/^[A-Z].{10,}[^.]$/);
    }
    for (const path of Object.keys(REFUSED_MEMBERS)) {
      const [owner = "", member = ""] = path.split(".");
      expect(BUILTIN_MEMBERS[owner]?.has(member), path).not.toBe(true);
    }
  });

  test("refuses a node type that is in no table [S5]", () => {
    expect(Object.hasOwn(NODES, "WithStatement")).toBe(false);
    expect(Object.hasOwn(NODES, "constructor")).toBe(false);
    expect(sourceText('import a from "a"')).toEqual(["MODULE_FORBIDDEN 1:0"]);
  });
});

/** Syntax of ECMAScript 2025, and what comes near: the place where it is refused, or nothing. */
const SYNTAX: readonly (readonly [what: string, source: string, refused: string])[] = [
  ["var, let and const", "var a = 1; let b = 2; const c = 3; return a + b + c", ""],
  ["destructuring", "const { a, b: [c = 1, ...d], ...e } = { b: [] }; return [a, c, d, e]", ""],
  ["destructuring assignment", "let a, b; [a, b] = [1, 2]; ({ a, b = 3 } = { a: 1 }); return a + b", ""],
  ["function", "function f(a, b = 1, ...c) { return arguments.length } return f()", ""],
  ["arrow function", "return ((a, { b } = {}) => a)(1)", ""],
  ["async function", "async function f() { await null } await f()", ""],
  ["generator", "function* g() { const a = yield 1; yield* [a] } return [...g()]", ""],
  ["async generator", "async function* g() { yield 1 } for await (const x of g()) print(x)", ""],
  [
    "class",
    'class A { a = 1; static b = 2; #c = 3; static { this.b = 4 } get d() { return this.#c } set d(x) {} static async *e() {} ["f"]() {} static #g() {} } return new A().d',
    "",
  ],
  [
    "class that extends",
    "class A extends Array { constructor() { super(); } at(i) { return super.at(i) } } return new A()",
    "",
  ],
  ["private name in an object", "class A { #a; static is(o) { return #a in o } } return A.is({})", ""],
  ["new.target", "function F() { return new.target } return F()", ""],
  ["this in a function", "function f() { return this } return f()", ""],
  ["getter and setter", "return { get a() { return 1 }, set a(x) {} }", ""],
  ["methods of objects", 'return { a() {}, async b() {}, *c() {}, async *d() {}, ["e"]: 1 }', ""],
  ["template string", "return `a${1}b`", ""],
  ["tagged template string", "return String.raw`\\n${1}`", ""],
  ["optional chaining", 'const a = {}; return [a?.b, a?.["b"], a.c?.()]', ""],
  ["nullish coalescing", "return null ?? 1", ""],
  ["logical assignment", "let a = null; a ??= 1; a ||= 2; a &&= 3; return a", ""],
  ["exponent", "let a = 2; a **= 3; return a ** 2", ""],
  ["BigInt", "return 10n ** 20n > 1n", ""],
  ["numeric separators", "return 1_000 + 0xff + 0b11 + 0o17", ""],
  ["spread", "return [...[1], { ...{ a: 1 } }, Math.max(...[1])]", ""],
  ["comma", "return (1, 2)", ""],
  [
    "in, instanceof, typeof, void, delete",
    'const o = { a: 1 }; return ["a" in o, o instanceof Object, typeof o, void 0, delete o.a]',
    "",
  ],
  ["if and else", "if (1) { return 1 } else return 2", ""],
  ["for", "for (let i = 0; i < 1; i++) continue", ""],
  ["for in", "for (const k in { a: 1 }) print(k)", ""],
  ["for of", "for (const [k, v] of Object.entries({})) print(k, v)", ""],
  ["for await", "for await (const x of [Promise.resolve(1)]) print(x)", ""],
  ["while and do", "let i = 0; while (i < 1) i++; do { i++ } while (i < 3)", ""],
  ["labels", "a: for (;;) { b: for (;;) { break a } }", ""],
  ["switch", "switch (1) { case 1: break; default: print(1) }", ""],
  ["try", 'try { throw new Error("x", { cause: 1 }) } catch { } finally { }', ""],
  ["catch with a pattern", "try { null.x } catch ({ message }) { return message }", ""],
  ["debugger", "debugger; return 1", ""],
  ["top-level await", "return await Promise.resolve(1)", ""],
  ["a block", "{ let a = 1; print(a) }", ""],
  ["empty statements", ";;;", ""],
  ["use strict", '"use strict"; return 1', ""],
  ["regular expression", "return /(?<a>x)\\k<a>(?<!y)(?:z)*?[^a-z\\d]/dgimsuy.source", ""],
  ["regular expression with sets", "return /[\\p{L}--[a-z]]/v.source", ""],
  ["regular expression with modifiers", "return /(?i:a)(?-i:b)/.source", ""],
  ["duplicate named groups", "return /(?<a>x)|(?<a>y)/.source", ""],
  ["unicode property", "return /\\p{Script=Greek}\\p{RGI_Emoji}/v.source", ""],
  [
    "letters of other scripts",
    "const gr\u00f6\u00dfe = 1, \u540d\u524d = 2; return gr\u00f6\u00dfe + \u540d\u524d",
    "",
  ],
  ["escapes in names", "const \\u0061bc = 1; return abc", ""],
  [
    "names that are words elsewhere",
    "const async = 1, of = 2, get = 3, set = 4, type = 5, from = 6; return async + of + get + set + type + from",
    "",
  ],
  ["error constructors", 'return [new AggregateError([]), new RangeError("x")].length', ""],
  ["iterator helpers", "return [1, 2].values().map((x) => x * 2).toArray()", ""],
  [
    "Promise.try and withResolvers",
    "const { promise, resolve } = Promise.withResolvers(); resolve(1); return [await promise, await Promise.try(() => 2)]",
    "",
  ],
  ["Object.groupBy", "return Object.groupBy([1], (x) => x)", ""],
  ["Set methods", "return [...new Set([1]).union(new Set([2]))]", ""],
  ["array copies", "return [[2, 1].toSorted(), [1].with(0, 2), [1].toReversed(), [1].at(-1)]", ""],
  ["structured clone", "return structuredClone({ a: 1 })", ""],
  ["html-like text in a string", 'return "<!-- x -->"', ""],
  ["decrement before a comparison", "let n = 2; while (n-->0); return n", ""],
  ["import", 'import a from "a"', "MODULE_FORBIDDEN 1:0"],
  ["dynamic import", 'await import("a")', "MODULE_FORBIDDEN 1:6"],
  ["import.meta", "return import.meta.url", "MODULE_FORBIDDEN 1:7"],
  ["import defer", 'import defer * as a from "a"', "MODULE_FORBIDDEN 1:13"],
  ["import with attributes", 'import a from "a.json" with { type: "json" }', "MODULE_FORBIDDEN 1:0"],
  ["export from", 'export * from "a"', "MODULE_FORBIDDEN 1:0"],
  ["using", "using a = b()", "NODE_FORBIDDEN 1:0"],
  ["await using", "await using a = b()", "NODE_FORBIDDEN 1:0"],
  ["with", "with (Math) { print(PI) }", "SYNTAX 1:0"],
  ["decorator", "@a class B {}", "NODE_FORBIDDEN 1:0"],
  ["accessor", "class A { accessor b = 1 }", "SYNTAX 1:19"],
  ["octal number", "return 010", "SYNTAX 1:7"],
  ["octal escape", 'return "\\01"', "SYNTAX 1:8"],
  ["delete of a variable", "let a; delete a", "SYNTAX 1:7"],
  ["duplicate parameters", "function f(a, a) {}", "SYNTAX 1:14"],
  ["assignment to arguments", "function f() { arguments = 1 }", "SYNTAX 1:15"],
  ["eval as a name", "let eval = 1", "SYNTAX 1:4"],
  ["yield outside", "yield 1", "SYNTAX 1:0"],
  ["await as a name", "let await = 1", "SYNTAX 1:4"],
  ["HTML comment", "let x = 1, y = 2; return x <!--y", "NODE_FORBIDDEN 1:25"],
  ["HTML comment that closes", "let x = 1\n--> x", "SYNTAX 2:2"],
  ["hashbang in the middle", "let x = 1\n#!x", "SYNTAX 2:1"],
  ["private name outside", "return #a", "SYNTAX 1:7"],
  ["unknown label", "break a", "SYNTAX 1:0"],
  ["continue to a block", "a: { continue a }", "SYNTAX 1:5"],
  ["duplicate declaration", "let a; let a", "SYNTAX 1:11"],
  ["const without value", "const a", "SYNTAX 1:7"],
  ["super outside", "super.a", "SYNTAX 1:0"],
  ["new.target outside", "return new.target", "SYNTAX 1:7"],
  ["regular expression with a lost bracket", "return /(/", "SYNTAX 1:8"],
  ["regular expression with an unknown flag", "return /a/x", "SYNTAX 1:8"],
  ["unknown unicode property", "return /\\p{Klingon}/u", "SYNTAX 1:8"],
  ["number with a dot", "return 0x1.a", "NODE_FORBIDDEN 1:7"],
  ["async as a bare parameter", "return (async => async)", "NODE_FORBIDDEN 1:8"],
  ["a field named async", "class A { async; }", "NODE_FORBIDDEN 1:10"],
  ["JSX", "return <div>1</div>", "SYNTAX 1:15"],
  ["pipeline", "return 1 |> f", "SYNTAX 1:10"],
  ["private method call of V8", "return %DebugPrint(1)", "SYNTAX 1:7"],
  ["mixed ?? and ||", "return 1 ?? 2 || 3", "SYNTAX 1:14"],
  ["unary before **", "return -1 ** 2", "SYNTAX 1:10"],
  ["optional chaining as a target", "const a = {}; a?.b = 1", "SYNTAX 1:14"],
  ["template after optional chaining", "const a = {}; a?.b`x`", "SYNTAX 1:18"],
  ["line separator", "return 1\u2028", "CHARACTER_FORBIDDEN 1:8"],
  ["enum", "enum A { B }", "NODE_FORBIDDEN 1:0"],
  ["namespace", "namespace A { const b = 1 }", "NODE_FORBIDDEN 1:0"],
];

describe("runs each syntax, or refuses it at its position [S5]", () => {
  test.each(SYNTAX.filter(([, , refused]) => refused === ""))("runs %s [S5]", async (_what, source) => {
    const { program, violations } = check(source);
    expect(violations).toEqual([]);
    if (program === undefined) return;
    const { end } = await sandbox.run(program, () => Promise.resolve({ ok: true, json: "null" }));
    expect(end).toMatchObject({ kind: "returned" });
  });

  test.each(SYNTAX.filter(([, , refused]) => refused !== ""))("refuses %s [S5]", (_what, source, refused) => {
    expect(sourceText(source)[0]).toBe(refused);
  });
});
