import fc, { CHARACTER } from "../support/fuzz.ts";
import { repetitions } from "../support/repetitions.ts";
import { expect, test } from "vitest";

import type { AnswerCall } from "../../sandbox/index.ts";
import { answer, openSandbox, run, thrownBy, getValue } from "../support/sandbox.ts";

const sandbox = openSandbox(1);

/** The arguments that reach the host when a program makes one call, as text. */
async function receiveArguments(list: string): Promise<string> {
  let seen = "";
  const listen: AnswerCall = async (call) => {
    seen = call.arguments;
    return answer(1);
  };
  await getValue(sandbox, `await device.Echo.back(${list})`, listen);
  return seen;
}

/** Expected JSON of values that leave the guest, as arguments and as results. */
const WORDS: Readonly<Record<string, readonly [code: string, json: string]>> = {
  "plain data": ['{ a: [1, "x", true, null] }', '{"a":[1,"x",true,null]}'],
  "numbers that JSON has no word for": ["[NaN, Infinity, -Infinity, -0]", "[null,null,null,0]"],
  undefined: ["[undefined, { a: undefined, b: 1 }]", '[null,{"b":1}]'],
  dates: [
    "[new Date(0), { when: new Date(1e12) }]",
    '["1970-01-01T00:00:00.000Z",{"when":"2001-09-09T01:46:40.000Z"}]',
  ],
  "an invalid date": ["[new Date(NaN)]", "[null]"],
  bytes: [
    "[new Uint8Array([0, 1, 255]), new Uint8Array(0), new ArrayBuffer(2)]",
    '[{"$bytes":"AAH/"},{"$bytes":""},{"$bytes":"AAA="}]',
  ],
  "a part of a buffer": ["new Uint8Array([1, 2, 3, 4]).subarray(1, 3)", '{"$bytes":"AgM="}'],
  "other typed arrays": ["[Float64Array.of(1.5, -2), Int16Array.of(-1)]", "[[1.5,-2],[-1]]"],
  maps: ['[new Map([["a", 1], ["b", new Map([[1, 2]])]])]', '[{"a":1,"b":[[1,2]]}]'],
  sets: ["new Set([1, new Set([2])])", "[1,[2]]"],
  "large numbers": ["[1n, -9007199254740991n, 9007199254740992n]", '[1,-9007199254740991,"9007199254740992"]'],
  errors: ['[new TypeError("bad")]', '[{"name":"TypeError","message":"bad"}]'],
  "functions and symbols in a list": ['[() => 1, Symbol("s"), class {}]', "[null,null,null]"],
  "functions and symbols in an object": ['{ f() {}, s: Symbol("s"), [Symbol("k")]: 1, a: 1 }', '{"a":1}'],
  "patterns, weak collections and boxed values": ["[/x/, new WeakMap(), Object(1), Object('t')]", '[{},{},1,"t"]'],
  "keys with a meaning": [
    `JSON.parse('{"__proto__":{"admin":true},"constructor":1,"then":2,"toJSON":3}')`,
    '{"__proto__":{"admin":true},"constructor":1,"then":2,"toJSON":3}',
  ],
  "objects without a prototype": ["Object.assign(Object.create(null), { a: 1 })", '{"a":1}'],
  "halves of characters": ['["\\ud800", "x\\udc00"]', '["\\ud800","x\\udc00"]'],
  "characters that end a text": ['["a\\0b", "\\u2028"]', `["a\\u0000b","\u2028"]`],
  "a proxy": ["new Proxy({ a: 1 }, {})", '{"a":1}'],
  getters: ["{ get a() { return 1 } }", '{"a":1}'],
  "a URL": ['new URL("http://h/x")', '"http://h/x"'],
  promises: ["[Promise.resolve(1), { p: (async () => [Promise.resolve(2)])() }]", '[1,{"p":[2]}]'],
};

test.each(Object.entries(WORDS))("transfers %s as written [S9]", async (_, [code, json]) => {
  expect(await receiveArguments(code)).toBe(`[${json}]`);
  const { end } = await run(sandbox, `return ${code.startsWith("{") ? `(${code})` : code}`);
  expect(end).toMatchObject({ kind: "returned", json });
});

test("distinguishes an omitted argument from null [S9]", async () => {
  expect(await receiveArguments("undefined, null, 1, undefined, undefined")).toBe('[{"$undefined":1},null,1]');
  expect(await receiveArguments("undefined")).toBe("[]");
  expect(await receiveArguments("")).toBe("[]");
});

test("returns `undefined` exactly for a result of nothing [S9]", async () => {
  expect((await run(sandbox, "return undefined")).end).toEqual({ kind: "returned", json: "" });
  expect((await run(sandbox, "return null")).end).toEqual({ kind: "returned", json: "null" });
  expect((await run(sandbox, 'return ""')).end).toEqual({ kind: "returned", json: '""' });
});

const REFUSED: Readonly<Record<string, readonly [code: string, message: string]>> = {
  "a cycle": ["const a = { b: [] }; a.b.push(a); return a", "circular reference"],
  "a cycle in an argument": ["const a = {}; a.a = a; await device.Echo.back(a)", "circular reference"],
  "a function as the result": ["return () => 1", "Cannot return a function"],
  "a symbol as the result": ["return Symbol('s')", "Cannot return a symbol"],
  "a getter that throws": ["return { get a() { throw new Error('mine') } }", "mine"],
  "a proxy that throws": ["return new Proxy({}, { ownKeys() { throw new Error('mine') } })", "mine"],
  "a promise that is rejected": ["return [Promise.reject(new Error('mine'))]", "mine"],
};

test.each(Object.entries(REFUSED))("reports a clear error for %s [S9]", async (_, [code, message]) => {
  expect(await thrownBy(sandbox, code)).toMatchObject({ message });
});

test("accepts answers of the host with thousands of levels, but limits values of a guest [S13]", async () => {
  const deep = (levels: number): string => "[".repeat(levels) + "]".repeat(levels);
  const code =
    "const value = await device.Echo.back(); let levels = 0; for (let v = value; v; v = v[0]) levels++; return levels";
  const nested =
    (levels: number): AnswerCall =>
    async () => ({ ok: true, json: deep(levels) });
  expect(await getValue(sandbox, code, nested(5_000))).toBe(5_000);
  const { end } = await run(sandbox, code, {}, nested(500_000));
  expect(end.kind === "threw" && JSON.parse(end.json)).toMatchObject({ message: "stack overflow" });
  const list = (levels: number): string => `JSON.parse('['.repeat(${levels}) + ']'.repeat(${levels}))`;
  expect(await receiveArguments(list(499))).toBe(`[${deep(499)}]`);
  const dated = `JSON.parse('${"[".repeat(499)}1${"]".repeat(499)}', (_, v) => v === 1 ? new Date(0) : v)`;
  expect(await receiveArguments(dated)).toContain("1970");
  expect((await run(sandbox, `return [${dated}]`)).end).toMatchObject({ kind: "returned" });
  const message = "The value is nested too deeply: it has more than 500 levels (NESTING_LIMIT)";
  expect(await thrownBy(sandbox, `await device.Echo.back(${list(500)})`)).toMatchObject({
    code: "NESTING_LIMIT",
    message,
  });
  expect(await thrownBy(sandbox, `await device.Echo.back(new Map([["v", ${list(500)}]]))`)).toMatchObject({
    code: "NESTING_LIMIT",
    message: "The value is nested too deeply: the arguments have more than 500 levels (NESTING_LIMIT)",
  });
  expect((await run(sandbox, `return ${list(500)}`)).end).toMatchObject({ kind: "returned" });
  expect((await run(sandbox, `/* toJSON */ return ${list(501)}`)).end).toEqual({
    kind: "stopped",
    reason: "NESTING_LIMIT",
  });
});

test("decodes bytes and dates of a tagged answer, and leaves an untagged one unchanged [S9]", async () => {
  const json =
    '{"b":{"$bytes":"AAH/"},"d":{"$date":"2001-09-09T01:46:40.000Z"},"l":[{"$bytes":""}],"o":{"$bytes":1},"m":{"$bytes":"","x":1},"__proto__":{"p":{"$bytes":"AA=="}}}';
  const code = `
    const value = await device.Echo.back();
    const waited = __waitFor(device.Echo.back());
    const show = (v) => [v.b instanceof Uint8Array && [...v.b], v.d instanceof Date && v.d.getTime(), v.l[0] instanceof Uint8Array, v.o, v.m, Object.keys(v), Object.getPrototypeOf(v) === Object.prototype];
    return [show(value), show(waited)]`;
  const tagged = [
    [0, 1, 255],
    1e12,
    true,
    { $bytes: 1 },
    { $bytes: "", x: 1 },
    ["b", "d", "l", "o", "m", "__proto__"],
    true,
  ];
  expect(await getValue(sandbox, code, async () => ({ ok: true, json, tagged: true }))).toEqual([tagged, tagged]);
  const plain = [
    false,
    false,
    false,
    { $bytes: 1 },
    { $bytes: "", x: 1 },
    ["b", "d", "l", "o", "m", "__proto__"],
    true,
  ];
  expect(await getValue(sandbox, code, async () => ({ ok: true, json }))).toEqual([plain, plain]);
});

test("treats an answer as plain data, whatever its keys [S9]", async () => {
  const json =
    '{"__proto__":{"admin":true},"constructor":{"prototype":{"x":1}},"then":"t","toJSON":"j","toString":"s"}';
  const code = `
    const value = await device.Echo.back();
    return [Object.keys(value), value.admin ?? null, ({}).admin ?? null, ({}).x ?? null, Object.getPrototypeOf(value) === Object.prototype, value]`;
  expect(await getValue(sandbox, code, async () => ({ ok: true, json }))).toEqual([
    ["__proto__", "constructor", "then", "toJSON", "toString"],
    null,
    null,
    null,
    true,
    JSON.parse(json),
  ]);
});

const SAMPLES = repetitions(100, 300);

test("transfers any JSON unchanged in both directions [S9]", { tags: "repeated" }, async () => {
  const samples = fc.sample(fc.jsonValue({ maxDepth: 6 }), { seed: 7, numRuns: SAMPLES });
  const back = (await getValue(
    sandbox,
    `const list = []; for (let i = 0; i < ${SAMPLES}; i++) list.push(await device.Echo.back(i)); return list`,
    async (call) => answer(samples[(JSON.parse(call.arguments) as number[])[0] as number]),
  )) as unknown[];
  expect(back).toEqual(JSON.parse(JSON.stringify(samples)));
  const texts = fc.sample(fc.string({ unit: CHARACTER, maxLength: 40 }), { seed: 8, numRuns: SAMPLES });
  const sent = await getValue(sandbox, `return ${JSON.stringify(texts)}`);
  expect(sent).toEqual(texts);
});

test("transfers large strings of any characters [S9]", async () => {
  const code =
    'const text = "語😀\\0x".repeat(50000); const back = await device.Echo.back(text); return [back === text, __waitFor(device.Echo.back(text)) === text, text.length]';
  expect(await getValue(sandbox, code)).toEqual([true, true, 250_000]);
  const large = "äx".repeat(300_000);
  expect(await getValue(sandbox, "return (await device.Echo.back()).length", async () => answer(large))).toBe(600_000);
});

test("transfers bytes of any length in both directions [S9]", { tags: "rest" }, async () => {
  const sizes = [1, 2, 3, 4, 3_071, 3_072, 3_073, 6_145, 100_000];
  const bytes = (size: number): Buffer => Buffer.from(Array.from({ length: size }, (_, i) => (i * 7 + size) % 256));
  const tell: AnswerCall = async ({ arguments: json }) => {
    const [size] = JSON.parse(json) as [number];
    return { ok: true, json: JSON.stringify({ $bytes: bytes(size).toString("base64") }), tagged: true };
  };
  const code = `const all = []; for (const size of ${JSON.stringify(sizes)}) all.push(await device.Echo.back(size)); return all`;
  expect(await getValue(sandbox, code, tell)).toEqual(
    sizes.map((size) => ({ $bytes: bytes(size).toString("base64") })),
  );
});

test("does not change how a program writes its own JSON [S9]", async () => {
  const code = `return [
    JSON.stringify([new Map([[1, 2]]), new Set([1]), new Uint8Array([7]), new Error("x"), Promise.resolve(1), new Date(0)]),
    (() => { try { return JSON.stringify(1n) } catch (error) { return error.name } })(),
    JSON.stringify({ a: [undefined, () => {}] }),
  ]`;
  expect(await getValue(sandbox, code)).toEqual([
    '[{},{},{"0":7},{},1,"1970-01-01T00:00:00.000Z"]',
    "TypeError",
    '{"a":[null,null]}',
  ]);
});

test("tolerates a value whose own code makes calls while it is serialized [S9]", async () => {
  const code = `
    const made = [];
    const value = { toJSON() { made.push(device.Echo.back(new Set([1]))); return new Map([["a", 1]]).size }, list: [new Set([2])] };
    const back = await device.Echo.back([value, new Set([3]), Promise.resolve(new Set([4]))]);
    return [back, await Promise.all(made)]`;
  const [back, made] = (await getValue(sandbox, code)) as [unknown, unknown[]];
  expect(back).toEqual([1, [3], [4]]);
  expect(new Set(made.map((value) => JSON.stringify(value)))).toEqual(new Set(["[1]"]));
});
