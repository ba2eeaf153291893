import { expect, test } from "vitest";

import { getValue, openSandbox, run } from "../support/sandbox.ts";

const sandbox = openSandbox(1);

/** What was read, without the places. */
async function misreads(code: string): Promise<unknown> {
  const outcome = await run(sandbox, code);
  return outcome.misreads.map(({ of, name, size }) => [of, name, size]);
}

test("reports members that a text or a number does not have, with their places", async () => {
  expect((await run(sandbox, `const r = "abc";\nr.data;\nreturn (5).total`)).misreads).toEqual([
    { of: "text", name: "data", size: 3, stack: expect.stringContaining("program.js:3:2") as string },
    { of: "number", name: "total", size: 0, stack: expect.stringContaining("program.js:4:11") as string },
  ]);
  expect(await misreads(`const { data } = '{"data":1}'; return "a"["b c"]`)).toEqual([
    ["json", "data", 10],
    ["text", "b c", 1],
  ]);
});

test("reports no member that is there, no index, and no test of what a value is", async () => {
  const code = `
    const text = "a,b";
    await text;
    "abc".match("b"); "abc".search("b"); [..."abc".matchAll("b")];
    return [text.length, text[9], text.split(","), text.replace("a", "b"), text.hasOwnProperty("x"), text.constructor,
      (5).toFixed(1), text.then, text.toJSON, JSON.stringify({ text }), \`\${text}\`, text + 5, Number(text)].length`;
  expect(await misreads(code)).toEqual([]);
});

test("reports at most eight places, of which each counts once, however often they are read", async () => {
  const lines = Array.from({ length: 12 }, (_, at) => `text.m${at};`).join("\n");
  expect(await misreads(`const text = "a"; for (let i = 0; i < 5; i++) text.again;\n${lines}`)).toHaveLength(8);
  expect(await misreads(`let n = 0; for (let i = 0; i < 1e5; i++) n += "a".no ?? 1; return n`)).toEqual([
    ["text", "no", 1],
  ]);
});

test.each([
  ["setTimeout(() => device.Echo.back(1), 5_000)", [["timer", "", 1]]],
  [
    "function save() { device.Echo.back(1); } setTimeout(save, 0); setInterval(async () => device.plain(), 1)",
    [["timer", "", 2]],
  ],
  ["const timer = setInterval(() => device.Echo.back(1), 1); await device.Echo.slow(20); clearInterval(timer)", []],
  ["setTimeout(() => device.Echo.back(1), 0); await device.Echo.slow(20)", []],
  ["await Promise.race([1, new Promise((_, fail) => setTimeout(() => fail(new Error('late')), 5_000))])", []],
  ["setTimeout(new Proxy(() => 1, { get() { throw 1; } }), 5_000)", []],
])("reports the timers with calls that the end of a program drops: %s", async (code, reports) => {
  expect(await misreads(code)).toEqual(reports);
});

test("leaves texts and numbers as the language defines them [S9]", async () => {
  const code = `
    "use strict";
    Object.prototype.added = function () { return this + "!"; };
    const thrown = (work) => { try { work(); return ""; } catch (error) { return error.name; } };
    const names = []; for (const name in "ab") names.push(name);
    return [
      "a".added(), (1).added(), names, "a".missing, new String("a") instanceof Object, "a" instanceof Object,
      "a".__proto__ === String.prototype, Object.prototype.toString.call("a"), Object.keys("ab"),
      thrown(() => { "a".b = 1; }), "toString" in new String("a"), "missing" in new String("a"),
    ]`;
  expect(await getValue(sandbox, code)).toEqual([
    "a!",
    "1!",
    ["0", "1", "added"],
    null,
    true,
    false,
    true,
    "[object String]",
    ["0", "1"],
    "TypeError",
    true,
    false,
  ]);
});

test("gives what JSON.parse is given if that is an object or array already, and reports it", async () => {
  const code = `
    const list = [{ a: 1 }];
    return [JSON.parse(list) === list, JSON.parse({ a: 1 }), JSON.parse({ a: 1 }, (_, v) => (v === 1 ? 2 : v)),
      JSON.parse(Object.create(null)), JSON.parse([]), JSON.parse(device.Echo.back({ b: 1 }))]`;
  expect(await getValue(sandbox, code)).toEqual([true, { a: 1 }, { a: 2 }, {}, [], { b: 1 }]);
  expect(await misreads(code)).toEqual([
    ["array", "", 0],
    ["object", "", 0],
    ["object", "", 0],
    ["object", "", 0],
    ["array", "", 0],
    ["object", "", 0],
  ]);
});

test("parses whatever JSON.parse parses otherwise, and throws what it throws [S9]", async () => {
  const code = `
    const thrown = (work) => { try { return work(); } catch (error) { return error.name + ": " + error.message; } };
    return [JSON.parse([1]), JSON.parse(["[2]"]), JSON.parse(null), JSON.parse({ toString: () => "3" }), JSON.parse(4),
      JSON.parse("[5]", (_, v) => (v === 5 ? 6 : v)), thrown(() => JSON.parse("{bad")), thrown(() => JSON.parse(new Map())),
      thrown(() => JSON.parse()), JSON.parse.length, JSON.parse.name]`;
  expect(await getValue(sandbox, code)).toEqual([
    1,
    [2],
    null,
    3,
    4,
    [6],
    "SyntaxError: expecting property name",
    "SyntaxError: unexpected token: 'object'",
    "SyntaxError: unexpected token: 'undefined'",
    2,
    "parse",
  ]);
  expect(await misreads(code)).toEqual([]);
});

test("gives the lines of a text, which stays the text that it is [S9] [M5]", async () => {
  const code = `
    const text = "Allowed directories:\\n/a b\\r\\n\\n/c\\n";
    const { lines } = text;
    const thrown = (work) => { try { work(); return ""; } catch (error) { return error.name; } };
    return [
      text.lines, lines.length, "".lines, "one".lines, "\\n".lines, typeof text, JSON.stringify({ text }), Object.keys(text).length,
      String.prototype.lines, Reflect.get(String.prototype, "lines", 5), ({ lines: 3 }).lines,
      thrown(() => { "a".lines = 1; }),
    ]`;
  expect(await getValue(sandbox, code)).toEqual([
    ["Allowed directories:", "/a b", "", "/c"],
    4,
    [],
    ["one"],
    [""],
    "string",
    JSON.stringify({ text: "Allowed directories:\n/a b\r\n\n/c\n" }),
    31,
    null,
    null,
    3,
    "TypeError",
  ]);
});

test("gives the lines of a long text in time, whatever a program has replaced", { tags: "rest" }, async () => {
  const code = `
    String.prototype.indexOf = String.prototype.slice = String.prototype.split = () => "replaced";
    Array.prototype.push = () => {};
    Object.defineProperty(Array.prototype, "0", { set() { throw new Error("set"); } });
    return "a\\n".repeat(100_000).lines.length`;
  expect(await getValue(sandbox, code)).toBe(100_000);
});

test("reports a text with lines as such, where a program reads a member that it does not have", async () => {
  const { misreads } = await run(sandbox, `const r = "a\\nb";\nr.directories;\nreturn "one".rows`);
  expect(misreads.map(({ of, name }) => [of, name])).toEqual([
    ["lines", "directories"],
    ["text", "rows"],
  ]);
});
