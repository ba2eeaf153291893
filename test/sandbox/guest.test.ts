import { expect, test } from "vitest";

import { openSandbox, run, thrownBy, getValue } from "../support/sandbox.ts";

const sandbox = openSandbox(1);

test("freezes `device`, without a prototype and with nothing but its paths [S6]", async () => {
  const code = `
    const shape = (value) => [Object.isFrozen(value), Object.getPrototypeOf(value), Reflect.ownKeys(value)];
    return [shape(device), shape(device.Echo), typeof device.Echo.back, typeof device.plain]`;
  expect(await getValue(sandbox, code)).toEqual([
    [true, null, ["Echo", "plain"]],
    [true, null, ["back", "fail", "slow"]],
    "function",
    "function",
  ]);
});

test("freezes methods of `device`, named by their path, and hides their implementation [S6]", async () => {
  const code = `
    const method = device.Echo.back;
    return [Object.isFrozen(method), Reflect.ownKeys(method), method.name, String(method), method.prototype ?? null]`;
  expect(await getValue(sandbox, code)).toEqual([
    true,
    ["length", "name"],
    "Echo.back",
    "function Echo.back() {\n    [native code]\n}",
    null,
  ]);
});

test("keeps `device` from being replaced, extended or emptied [S6]", async () => {
  const code = `
    const attempts = [
      () => { device = {} },
      () => { globalThis.device = {} },
      () => { device.Other = {} },
      () => { device.Echo.more = () => {} },
      () => { device.Echo.back = () => {} },
      () => { delete device.Echo },
      () => { delete globalThis.device },
      () => { Object.setPrototypeOf(device, {}) },
      () => { __waitFor = 1 },
    ];
    return attempts.map((attempt) => { try { attempt(); return "done" } catch (error) { return error.name } })`;
  expect(await getValue(sandbox, code)).toEqual(Array(9).fill("TypeError"));
});

test("treats the names of object members as ordinary paths [S6]", async () => {
  const paths = ["__proto__.x", "constructor.constructor", "Skill.__proto__", "toString", "Skill.then", "__proto__"];
  const asked: string[] = [];
  const { end } = await sandbox.run(
    {
      code: `
        await device.constructor.constructor();
        await device.Skill.__proto__();
        await device.toString();
        await device.Skill.then();
        return [Object.keys(device), ({}).x ?? null]`,
      paths,
    },
    async ({ path }) => {
      asked.push(path);
      return { ok: true, json: "1" };
    },
  );
  expect(asked).toEqual(["constructor.constructor", "Skill.__proto__", "toString", "Skill.then"]);
  expect(end).toMatchObject({ kind: "returned" });
});

test("refuses every way to run code from text [S6]", async () => {
  const code = `
    const ways = [
      () => eval("1"),
      () => (0, globalThis.eval)("1"),
      () => Function("return 1")(),
      () => new Function("return 1")(),
      () => (() => {}).constructor("return 1")(),
      () => (async () => {}).constructor("return 1")(),
      () => (function* () {}).constructor("return 1")(),
      () => (async function* () {}).constructor("return 1")(),
      () => device.Echo.back.constructor,
      () => setTimeout("globalThis.ran = 1"),
      () => Reflect.construct(Object.getPrototypeOf(() => {}).constructor, ["return 1"])(),
      () => { class Maker extends Function {} ; return new Maker("return 1")() },
      () => [].at.constructor("return 1")(),
      () => Object.getOwnPropertyDescriptor(Object.getPrototypeOf(async () => {}), "constructor").value("return 1"),
    ];
    return ways.map((way) => { try { way(); return "done" } catch (error) { return error.constructor.name + ": " + error.message } })`;
  const refused = "TypeError: Cannot make code from text: write the code itself in the program";
  expect(await getValue(sandbox, code)).toEqual([
    "ReferenceError: 'eval' is not defined",
    "TypeError: not a function",
    ...Array(6).fill(refused),
    "done",
    "Error: Cannot start a timer without a function: write setTimeout(() => …, ms)",
    ...Array(4).fill(refused),
  ]);
});

test("names each constructor as its global variable [S7]", async () => {
  const code = `return Object.getOwnPropertyNames(globalThis).filter((name) =>
    /^[A-Z]/.test(name) && typeof globalThis[name] === "function" && globalThis[name].name !== name)`;
  expect(await getValue(sandbox, code)).toEqual([]);
});

test("offers no module, file, network, process, thread or engine [S6]", async () => {
  const names = [
    "require module exports process global Buffer fetch XMLHttpRequest WebSocket Worker SharedArrayBuffer Atomics",
    "WebAssembly WeakRef FinalizationRegistry navigator window self document std os bjson gc scriptArgs Deno Bun",
    "__host __prepare __follow __deliver __fail eval importScripts crypto DOMException",
  ].join(" ");
  const code = `return "${names}".split(" ").filter((name) => name in globalThis)`;
  expect(await getValue(sandbox, code)).toEqual([]);
  expect((await thrownBy(sandbox, 'await import("node:fs")')).message).toContain("could not load module");
  expect((await thrownBy(sandbox, 'import fs from "node:fs"')).name).toBe("SyntaxError");
  expect((await thrownBy(sandbox, "return import.meta")).name).toBe("SyntaxError");
});

test("gives nothing to a program that closes the function around it [S6]", async () => {
  const code = "}; globalThis.early = typeof device + typeof __waitFor; async () => { return [early, typeof __host]";
  expect(await getValue(sandbox, code)).toEqual(["objectfunction", "undefined"]);
  expect(await thrownBy(sandbox, "}; () => {")).toMatchObject({ name: "TypeError" });
  expect(await thrownBy(sandbox, "}; throw new RangeError('x'); () => {")).toMatchObject({ name: "RangeError" });
});

test("ends a program without a result and output with neither [S3]", async () => {
  expect(await run(sandbox, "")).toMatchObject({ end: { kind: "returned", json: "" }, output: "", calls: 0 });
});

test("captures all printing functions in order [S3]", async () => {
  const code = `
    console.log("a", 1, null, undefined, true); console.info({ b: [1, "x", { c: { d: { e: { f: { g: [{ h: { i: { j: 1 } } }] } } } } }] });
    console.warn(new Map([["k", new Set([1])]])); console.error(new TypeError("bad")); console.debug(-0, 10n, Symbol("s"));
    print(() => {}, function named() {}, class Shape {}); print([1, , 3], Object.create(null), new (class Point { x = 1 })());
    print(new Date(0), /x/g, "text", ["text"]); console.table([1]); console.assert(1 === 2, "wrong"); print()`;
  const { output } = await run(sandbox, code);
  expect(output.split("\n")).toEqual([
    "a 1 null undefined true",
    '{b: [1, "x", {c: {d: {e: {f: {g: [{h: {i: {…}}}]}}}}}]}',
    'Map {"k" => Set {1}}',
    "TypeError: bad",
    "-0 10n Symbol(s)",
    "[function anonymous] [function named] [function Shape]",
    "[1, empty, 3] {} Point {x: 1}",
    '1970-01-01T00:00:00.000Z /x/g text ["text"]',
    "[1]",
    "Assertion failed: wrong",
    "",
  ]);
});

test("formats the specifiers of console.log as Node does [S3]", async () => {
  const code = `
    console.log("%s has %d of %i, %f %j%%", "Ada", "3", 4.7, "1.5x", { a: 1 }, "more", 5);
    console.warn("%o %O%c", [1], "quoted", "css"); console.error("%d%%", 50n);
    console.log("100%", 5); console.log("100%%"); console.log("%s %s %x", "one"); console.log(1, "%s", 2);
    console.log("%d %i", Symbol("s"), {}); console.log("%s is %s", Promise.resolve("late"), null);
    print("%s", 1); console.dir({ a: 1 }, { depth: null }); console.table([{ a: 1 }], ["a"]);
    console.assert(0, "%d left", 2); console.assert(false); console.assert(true, "unseen");
    console.count(); console.count("loop"); console.count(); console.countReset(); console.count()`;
  const { output } = await run(sandbox, code);
  expect(output.split("\n")).toEqual([
    'Ada has 3 of 4, 1.5 {"a":1}% more 5',
    '[1] "quoted"',
    "50n%",
    "100% 5",
    "100%%",
    "one %s %x",
    "1 %s 2",
    "NaN NaN",
    "late is null",
    "%s 1",
    "{a: 1}",
    "[{a: 1}]",
    "Assertion failed: 2 left",
    "Assertion failed",
    "default: 1",
    "loop: 1",
    "default: 2",
    "default: 1",
  ]);
});

test.each([
  ["for (const x of [1, 2].values().map((x) => x)) if (x === 1) break; return 1", 1],
  ["const [first] = new Map([['a', 1], ['b', 2]]).keys().filter(() => true); return first", "a"],
  ["return new Set([1, 2, 3]).values().map((x) => x * 2).find((x) => x > 2)", 4],
  ["return 'abc'.matchAll(/./g).drop(1).take(1).toArray().flat()", ["b"]],
  ["const it = [1].values().map(String); return [it.return(), it.next()]", [{ done: true }, { done: true }]],
])("leaves the helpers of iterators early: %s", async (code, value) => {
  expect(await getValue(sandbox, code)).toEqual(value);
});

test("closes the iterator of a program below a helper, and throws what that throws", async () => {
  const code = `
    const closed = [];
    const own = { next: () => ({ value: 1, done: false }), return: () => closed.push(1) && {}, __proto__: Iterator.prototype };
    for (const x of own.map((x) => x)) break;
    own.return = () => { throw new TypeError("mine"); };
    try { own.take(1).toArray(); } catch (error) { closed.push(error.message); }
    return closed`;
  expect(await getValue(sandbox, code)).toEqual([1, "mine"]);
});

test("prints the time since console.time [S3]", async () => {
  const code = `
    console.time("a"); console.time();
    await device.Echo.slow(20);
    console.timeLog("a", { b: 1 }); console.timeEnd("a"); console.timeEnd("a"); console.timeEnd(); console.timeEnd("none")`;
  const { output } = await run(sandbox, code);
  const times = output.replace(/\b\d+ ms/g, (text) => (parseInt(text) >= 15 ? "long" : text)); // a timer may be a little early
  expect(times).toBe("a: long {b: 1}\na: long\ndefault: long");
});

test("prints the causes of an error, and the errors in it [S3]", async () => {
  const code = `
    const loop = new Error("a"); loop.cause = loop;
    print(new Error("outer", { cause: new TypeError("inner", { cause: 5 }) }), loop);
    print([new AggregateError([new Error("x"), 1], "many")], new RangeError("alone"));
    print(Object.defineProperty(new Error("y"), "cause", { get() { throw 1 } }))`;
  const { output } = await run(sandbox, code);
  expect(output.split("\n")).toEqual([
    "Error: outer {cause: TypeError: inner {cause: 5}} Error: a {cause: [circular]}",
    "[AggregateError: many {errors: [Error: x, 1]}] RangeError: alone",
    "[unreadable]",
  ]);
});

test("prints a placeholder for values that cannot be shown [S3]", async () => {
  const code = `
    const loop = { a: 1 }; loop.self = loop;
    print(loop, { get x() { throw 1 } }, new Proxy({}, { ownKeys() { throw 1 } }), { toString: null });
    print("a\\0b", "\\ud800", Array.from({ length: 300 }, (_, i) => i).slice(0, 250).length, Array(1e6).fill(0));
    print(Object.defineProperty(new Error("x"), "message", { get() { throw 1 } }), new URL("http://a.b/c?d"))`;
  const { output } = await run(sandbox, code);
  expect(output.split("\n")).toEqual([
    "{a: 1, self: [circular]} {x: [unreadable]} [unreadable] {toString: null}",
    `a␀b � 250 [${Array(200).fill(0).join(", ")}, … 1000000 in all]`,
    "[unreadable] http://a.b/c?d",
  ]);
});
