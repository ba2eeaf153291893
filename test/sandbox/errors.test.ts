import * as fc from "../support/fuzz.ts";
import { repetitions } from "../support/repetitions.ts";
import { expect, test } from "vitest";

import { CallSites } from "../../sandbox/engine/call-site.ts";
import { openSandbox, run, thrownBy, getValue } from "../support/sandbox.ts";

const sandbox = openSandbox(1);

/** The line that stands in front of the program is the only one. */
const FIRST_LINE = 2;

/**
 * Programs that throw, and where: line and column count from 1, in the program's own text. The engine points at the dot
 * of a property, at the bracket of a call, and at a name.
 */
const PLACES: Readonly<Record<string, readonly [code: string, line: number, column: number, name?: string]>> = {
  "in the first line": ["null.x", 1, 5],
  "in a later line": ["const a = 1;\n\n  a.b.c;", 3, 6],
  "in a function": [
    "function f() {\n  return g();\n}\nfunction g() { throw new RangeError('x') }\nf()",
    4,
    36,
    "RangeError",
  ],
  "in a callback of a builtin": ["[1].map((x) => {\n  return x.y.z;\n})", 2, 13],
  "after an await": ["await device.Echo.back(1);\nawait null;\nnull.x", 3, 5],
  "in an async function": [
    "const f = async () => {\n  await device.Echo.back(1);\n  undefined();\n};\nawait f()",
    3,
    12,
  ],
  "in then": ["await device.Echo.back(1).then(() => {\n  null.x;\n})", 2, 7],
  "in a timer": ["setTimeout(() => {\n  null.x;\n}, 1);\nawait new Promise(() => {})", 2, 7],
  "in an interval": ["setInterval(() => {\n  null.x;\n}, 1);\nawait new Promise(() => {})", 2, 7],
  "in an async timer": [
    "setTimeout(async () => {\n  await null;\n  null.x;\n}, 1);\nawait new Promise(() => {})",
    3,
    7,
  ],
  "in a microtask": ["queueMicrotask(() => null.x);\nawait new Promise(() => {})", 1, 26],
  "in a getter of the result": ["return {\n  get x() { return null.y }\n}", 2, 24],
  "in a getter of an argument": ["await device.Echo.back({\n  get x() { return null.y } })", 2, 24],
  "in toJSON": ["return {\n  toJSON() { null.x } }", 2, 18],
  "in a generator": ["function* g() {\n  yield 1;\n  null.x }\n[...g()]", 3, 7],
  "in a class": ["class A {\n  #x = null;\n  get y() { return this.#x.z }\n}\nnew A().y", 3, 27],
  "in a tagged template": ["const tag = () => {\n  null.x };\ntag`a`", 2, 7],
  "in a sort": ["[2, 1].sort((a, b) => {\n  throw new TypeError('x') })", 2, 22],
  "by a name that is not there": ["const a = 1;\n  missing(a)", 2, 3, "ReferenceError"],
  "in a failing call": ["const a = 1;\nawait device.Echo.fail(a)", 2, 23, "CallError"],
  "in a failing call that blocks": ["const a = 1;\n__waitFor(device.Echo.fail(a))", 2, 27, "CallError"],
  "in a failing call among others": [
    "await Promise.all([\n  device.Echo.back(1),\n  device.Echo.fail(2),\n])",
    3,
    19,
    "CallError",
  ],
  "in a call that was made in a function": ["const f = () =>\n  device.Echo.fail();\nawait f()", 2, 19, "CallError"],
  "in a failing call with a promise in it": [
    "const a = 1;\nawait device.Echo.fail(device.Echo.back(a))",
    2,
    23,
    "CallError",
  ],
  "in a failing call far to the right and far below": [
    `const far = 1;${"\n".repeat(300)}let text = "${"é".repeat(70)}${"x".repeat(200)}"; await device.Echo.fail(text)`,
    301,
    308,
    "CallError",
  ],
  "in a failing call in a generator": [
    "async function* f() {\n  yield 1;\n  yield device.Echo.fail();\n}\nfor await (const each of f()) print(each)",
    3,
    25,
    "CallError",
  ],
  "in a failing call in a method that a builtin calls": [
    "class A {\n  async call(n) {\n    await device\n      .Echo\n      .fail(n) } }\nawait [1].map(new A().call)[0]",
    5,
    12,
    "CallError",
  ],
  "in a constructor": ["class A {\n  constructor() { null.x }\n}\nnew A()", 2, 23],
  "in the constructor of a parent": [
    "class B {\n  constructor() { null.x }\n}\nclass A extends B { constructor() { super() } }\nnew A()",
    2,
    23,
  ],
  "in a static block": ["class A {\n  static {\n    null.x }\n}", 3, 9],
  "in a setter": ["({ set x(value) {\n  null.y } }).x = 1", 2, 7],
  "in a trap of a proxy": ["new Proxy({}, { get() {\n  null.x } }).y", 2, 7],
  "in the executor of a promise": ["await new Promise(() => {\n  null.x })", 2, 7],
  "in a thenable": ["await { then() {\n  null.x } }", 2, 7],
  "in an async iterator": [
    "async function* g() { yield 1;\n  await null;\n  null.x }\nfor await (const v of g()) print(v)",
    3,
    7,
  ],
  "in an iterator": [
    "const it = { [Symbol.iterator]: () => ({ next() {\n  null.x } }) };\nfor (const v of it) print(v)",
    2,
    7,
  ],
  "in `finally` of a generator that is left": [
    "function* g() { try { yield 1 } finally {\n  null.x } }\nfor (const a of g()) break",
    2,
    7,
  ],
  "in a reviver": ["JSON.parse('[1]', () => {\n  null.x })", 2, 7],
  "that was caught and thrown again": ["try {\n  null.x } catch (error) {\n throw error }", 2, 7],
  "in one of many callbacks after an await": [
    "await Promise.all([1].map(async (n) => {\n  await device.Echo.back(n);\n  return n.foo.bar }))",
    3,
    15,
  ],
  "in a rejection that nobody waits for": [
    "setTimeout(async () => {\n  await device.Echo.back(1);\n  null.x });\nawait new Promise((done) => setTimeout(done, 5000))",
    3,
    7,
  ],
  "by a web function": ['const a = 1;\n  new URL("nothing")', 2, 10],
  "by a syntax error": ["let a = 1;\nlet b = ;", 2, 9, "SyntaxError"],
  "by a syntax error at the end": ["let a = (1", 2, 1, "SyntaxError"],
};

test.each(Object.entries(PLACES))(
  "reports the position of an error %s [S10]",
  async (_, [code, line, column, name = "TypeError"]) => {
    const thrown = await thrownBy(sandbox, code);
    expect(thrown.name).toBe(name);
    const [, at] = /program\.js:(\d+:\d+)/.exec(thrown.stack) ?? [];
    expect(at).toBe(`${line + FIRST_LINE - 1}:${column}`);
  },
);

test("gives a call the frames of an error created there [S10]", async () => {
  const code = `
    const places = (error) => error.stack.match(/program\\.js:\\d+:/g);
    const f = (n) => n > 0 ? [n].map((m) => f(m - 1))[0] : [places(new Error()), device.Echo.fail()];
    const g = async () => {
      await null; const [here, failing] = f(3);
      return [here, await failing.catch(places)];
    };
    return g()`;
  const [here, failed] = (await getValue(sandbox, code)) as [string[], string[]];
  expect(here).toHaveLength(8);
  expect(failed).toEqual(here);
});

test("reads no position, and throws no error, for invalid frames [S10]", { tags: "repeated" }, () => {
  const bytes = fc.uint8Array({ minLength: 256, maxLength: 1_024 });
  const pointers = fc.array(fc.nat(1_023), { minLength: 64, maxLength: 256 });
  const memory = fc.oneof(
    bytes.map((of) => new DataView(Uint8Array.from(of).buffer)),
    pointers.map((of) => new DataView(Uint32Array.from(of).buffer)),
  );
  const property = fc.property(memory, fc.nat(300), (of, runtime) => {
    expect(new CallSites(runtime).stack(of)).toMatch(/^(?: {4}at <anonymous> \(program\.js:-?\d+:-?\d+\)\n)*$/);
  });
  fc.assert(property, { numRuns: repetitions(500, 1_000, 2_000) });
});

test("tells the program that catches a failed call its method and position [S10]", async () => {
  const code = `
    const tell = (error) => [error instanceof Error, error.name, error.message, error.code, error.skill, error.method, error.server, Object.keys(error), String(error)];
    const caught = [];
    try { await device.Echo.fail(1) } catch (error) { caught.push(tell(error), error.stack) }
    try { __waitFor(device.Echo.fail(1)) } catch (error) { caught.push(tell(error), error.stack) }
    return caught`;
  const told = [
    true,
    "CallError",
    "Cannot do this",
    "REFUSED",
    "Echo",
    "fail",
    "here",
    ["code", "skill", "method", "server"],
    "CallError: Cannot do this",
  ];
  expect(await getValue(sandbox, code)).toEqual([
    told,
    "    at <anonymous> (program.js:5:33)\n",
    told,
    "    at <anonymous> (program.js:6:37)\n",
  ]);
});

test("sends the host an error with only the program's own frames [S10]", async () => {
  for (const code of [
    "await device.Echo.fail(1)",
    'new URL("x")',
    "setTimeout(() => null.x); await new Promise(() => {})",
    "return { get x() { return null.y } }",
  ]) {
    const { stack } = await thrownBy(sandbox, code);
    const lines = stack.split("\n").filter((line) => line !== "");
    expect(lines.filter((line) => !/^ {4}at .*(?:\(program\.js:\d+:\d+\)|\(native\))$/.test(line))).toEqual([]);
    expect(lines.length).toBeGreaterThan(0);
  }
});

test("hides our files from every stack that a program can see [S10]", async () => {
  const code = `
    const stacks = [];
    const note = () => stacks.push(new Error("here").stack);
    note(); queueMicrotask(note); setTimeout(note, 1); setTimeout(() => [1].forEach(note), 1);
    print({ get a() { note(); return 1 } }); print(new Proxy({}, { ownKeys() { note(); return [] } }));
    await device.Echo.back({ toJSON() { note(); return 1 } });
    structuredClone({ get a() { note(); return 1 } }); new URL({ toString() { note(); return "http://a" } });
    new Promise((done) => { note(); done() }).then(note);
    for (const fail of [() => atob("!"), () => btoa("€"), () => setTimeout(1), () => new URL("x"), () => structuredClone(note), () => new TextDecoder("x"), () => JSON.stringify(1n), () => __waitFor(device.Echo.back(Promise.resolve()))])
      try { fail() } catch (error) { stacks.push(error.stack) }
    await new Promise((done) => setTimeout(done, 20));
    return stacks`;
  const stacks = (await getValue(sandbox, code)) as string[];
  expect(stacks.length).toBeGreaterThan(16);
  expect(stacks.filter((stack) => !stack.includes("program.js:"))).toEqual([]);
  expect(
    stacks
      .join("")
      .replaceAll("program.js", "")
      .match(/\w+\.[jt]s|file:|\/|node:/g),
  ).toBe(null);
});

test("describes every thrown value without running its code [S10]", async () => {
  const things = [
    ["throw 'text'", "Thrown", "text"],
    ["throw 5", "Thrown", "5"],
    ["throw undefined", "Thrown", "undefined"],
    ["throw null", "Thrown", "null"],
    ["throw 10n", "Thrown", "10"],
    ["throw Symbol('s')", "Thrown", "Symbol(s)"],
    ["throw { name: 'Mine', message: 'own', code: 'C' }", "Mine", "own"],
    ["throw new AggregateError([])", "AggregateError", "All promises were rejected"],
    [
      "await Promise.any([device.Echo.fail(), Promise.reject(new Error('a')), Promise.reject(1), Promise.reject()])",
      "AggregateError",
      "All promises were rejected: Cannot do this; a; undefined",
    ],
    ["throw Object.assign(new AggregateError([]), { errors: null })", "AggregateError", ""],
    ["throw {}", "Thrown", "{}"],
    ["throw Object.create(null)", "Thrown", "{}"],
    ["throw { code: 7 }", "Thrown", '{"code":7}'],
    [
      "throw Object.defineProperty(new Error('x'), 'message', { get() { throw 1 } })",
      "Error",
      "an object that JSON cannot hold",
    ],
    ["throw new Proxy({}, { get() { throw 1 } })", "Thrown", "an object that JSON cannot hold"],
    ["throw new AggregateError([new Error('a')], 'many')", "AggregateError", "many"],
    ["throw Object.assign(new Error('x'), { name: Symbol('s') })", "Symbol(s)", "x"],
    ["throw Object.assign(new Error('a\\0b\\ud800'), { toString() { return 'other' } })", "Error", "a\0b\ud800"],
    ["await Promise.reject(new EvalError('late'))", "EvalError", "late"],
    ["class Own extends Error { name = 'Own' } throw new Own('mine')", "Own", "mine"],
  ] as const;
  for (const [code, name, message] of things) expect(await thrownBy(sandbox, code)).toMatchObject({ name, message });
});

test("gives the error of Promise.any a message that a program can read [S10]", async () => {
  const code = "return Promise.any([Promise.reject(1)]).catch((error) => [error.message, `${error}`, error.errors])";
  const message = "All promises were rejected";
  expect(await getValue(sandbox, code)).toEqual([message, `AggregateError: ${message}`, [1]]);
});

test("cuts long errors, whatever their size [S10]", async () => {
  const { message, stack, name } = await thrownBy(
    sandbox,
    "throw Object.assign(new Error('x'.repeat(1e6)), { name: 'n'.repeat(1e6), stack: '(native)'.repeat(1e6) })",
  );
  expect([message.length, name.length]).toEqual([4_096, 200]);
  expect(stack.length).toBeLessThanOrEqual(8_192);
});

test("keeps the output before an error [S10]", async () => {
  const { output, end } = await run(sandbox, "print(1); print(device.Echo.back(2)); throw new Error('x')");
  expect(output).toBe("1\n2");
  expect(end.kind).toBe("threw");
});
