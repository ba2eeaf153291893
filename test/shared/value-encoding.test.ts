import { expect, test } from "vitest";

import { decode } from "../../sandbox/codec/guest-value.ts";
import {
  decodeArguments,
  decodeFromGuest,
  encodeForGuest,
  parseResult,
  toJson,
  toPlainValue,
} from "../../src/shared/values/value-encoding.ts";

const encoded = (value: unknown): ReturnType<typeof encodeForGuest> => encodeForGuest(value, 1_000);
const said = (json: string) => () => decode(json, "dates");

test("writes the result of a method as JSON; bytes and dates are tagged [S9]", () => {
  expect(encoded({ a: [1, "x", null] })).toEqual({ json: '{"a":[1,"x",null]}', tagged: false });
  expect(encoded({ at: new Date(0) })).toEqual({
    json: '{"at":{"$date":"1970-01-01T00:00:00.000Z"}}',
    tagged: true,
  });
  expect(encoded(new Uint8Array([1, 2, 3]))).toEqual({ json: '{"$bytes":"AQID"}', tagged: true });
  expect(encoded(Buffer.from("hi"))).toEqual({ json: '{"$bytes":"aGk="}', tagged: true });
});

test("hands the JSON of a result on as it came, once, within the limit [S9]", () => {
  const text = '{ "a": [1, 1.0] }';
  const value = parseResult(text);
  expect(value).toEqual({ a: [1, 1] });
  expect(encoded(value)).toEqual({ json: text, tagged: false });
  expect(encoded(value)).toEqual({ json: '{"a":[1,1]}', tagged: false });
  expect(encoded({ ...(parseResult(text) as object) })?.json).toBe('{"a":[1,1]}');
  expect(encoded(parseResult(JSON.stringify(["x".repeat(1_000)])))).toBeUndefined();
  expect(encoded(parseResult('"text"'))?.json).toBe('"text"');
  expect(() => parseResult("{")).toThrow(SyntaxError);
});

test("writes documented values for what JSON cannot represent [S9]", () => {
  expect(encoded(undefined)).toEqual({ json: '{"$undefined":1}', tagged: true });
  expect(encoded([Number.NaN, Infinity, undefined])?.json).toBe('[null,null,{"$undefined":1}]');
  expect(encoded([12n, 2n ** 64n])?.json).toBe('[12,"18446744073709551616"]');
  expect(encoded(new Map([["a", 1]]))?.json).toBe('{"a":1}');
  expect(encoded(new Map([[1, 2]]))?.json).toBe("[[1,2]]");
  expect(encoded(new Set([1, 2]))?.json).toBe("[1,2]");
});

test("writes the content of objects that JSON writes as empty [S9]", () => {
  expect(encoded([new Float64Array([1.5, 2]), new BigInt64Array([3n])])?.json).toBe("[[1.5,2],[3]]");
  expect(encoded([new Uint8Array([1, 2]).buffer, new DataView(new ArrayBuffer(1))])).toEqual({
    json: '[{"$bytes":"AQI="},{"$bytes":"AA=="}]',
    tagged: true,
  });
  expect(encoded(Object.assign(new RangeError("too far"), { code: "E" }))?.json).toBe(
    '{"code":"E","name":"RangeError","message":"too far"}',
  );
  expect(encoded([/a+/g])?.json).toBe('["/a+/g"]');
  expect(encoded(new Float64Array(200))).toBeUndefined();
});

test("calls the methods of values that serialize themselves [S9]", () => {
  expect(encoded({ toJSON: () => new Map([["a", 1n]]) })?.json).toBe("{}");
  expect(encoded([{ toJSON: () => "me" }, new URL("https://e.x")])?.json).toBe('["me","https://e.x/"]');
  expect(encoded({ list: [new Set([new Date(0)])] })).toEqual({
    json: '{"list":[[{"$date":"1970-01-01T00:00:00.000Z"}]]}',
    tagged: true,
  });
});

test("does not write an answer that is certainly too long [S7]", () => {
  const circle: Record<string, unknown> = {};
  circle[""] = circle;
  for (const value of ["x".repeat(1_001), Array(1_001), { ["x".repeat(1_000)]: 1 }, new Uint8Array(1_001), circle])
    expect(encoded(value)).toBeUndefined();
  expect(encoded("x".repeat(1_000))?.json).toHaveLength(1_002);
});

test("keeps __proto__ as data in both directions [S9]", () => {
  const value = decodeFromGuest('{"__proto__":{"polluted":{"$bytes":"AQ=="}}}') as object;
  expect(Object.getPrototypeOf(value)).toBe(Object.prototype);
  expect(Object.keys(value)).toEqual(["__proto__"]);
  expect(Reflect.get({}, "polluted")).toBeUndefined();
  expect(encoded(JSON.parse('{"__proto__":1}'))?.json).toBe('{"__proto__":1}');
});

test("restores an omitted argument as undefined [S9]", () => {
  expect(decodeArguments(said('[{"$undefined":1},2]'), "bytes")).toEqual([undefined, 2]);
  expect(decodeArguments(said('[{"$undefined":1,"more":2}]'), "bytes")).toEqual([{ $undefined: 1, more: 2 }]);
});

test("passes bytes to a local skill as bytes, and to an MCP server as base64 [S9]", () => {
  expect(decodeArguments(said('[{"data":{"$bytes":"AQI="}}]'), "bytes")).toEqual([{ data: new Uint8Array([1, 2]) }]);
  expect(decodeArguments(said('[{"data":{"$bytes":"AQI="}}]'), "base64")).toEqual([{ data: "AQI=" }]);
});

test("decodes an invalid argument list to undefined [S6]", () => {
  expect(decodeArguments(said("{"), "bytes")).toBeUndefined();
  expect(decodeArguments(said('{"0":1}'), "bytes")).toBeUndefined();
});

const HOSTILE_CYCLE: { self?: unknown } = {};
HOSTILE_CYCLE.self = HOSTILE_CYCLE;

test.each<[string, unknown]>([
  ["rows", [{ id: 1, name: "a", nested: { list: [true, null, 1.5] } }]],
  ["undefined", undefined],
  ["undefined members", { a: undefined, b: [undefined] }],
  ["numbers without JSON", [Number.NaN, Infinity, -0]],
  ["functions and symbols", { run: () => 1, mark: Symbol("a"), list: [() => 1] }],
  ["a function", () => 1],
  ["bytes, BigInts, dates", { bytes: new Uint8Array([1, 2]), big: 2n ** 64n, day: new Date(0) }],
  ["a Map with a Set", new Map([["a", new Set([1n])]])],
  ["a name of the prototype", JSON.parse('{"__proto__": {"a": 1}}')],
  ["a list with a hole and a name", Object.assign(Array(2), { name: 1 })],
  ["an object with the prototype of lists", Object.create(Array.prototype)],
  ["its own JSON", { toJSON: () => ({ a: 1 }) }],
])("writes the same JSON of %s with and without a replacer function", (_, value) => {
  const tree = { ["a member that is never plain"]: new Set<unknown>([value]) };
  const slow = (JSON.parse(toJson(tree)) as Record<string, unknown[]>)["a member that is never plain"]?.[0];
  expect(JSON.parse(toJson(value))).toEqual(slow);
  expect(toPlainValue(value)).toStrictEqual(JSON.parse(toJson(value)));
});

test.each<[string, unknown]>([
  ["rows", [{ id: 1, name: "a", nested: { list: [true, null, 1.5] } }]],
  ["an object without members", {}],
])("returns what is its own JSON as it is: %s", (_, value) => {
  expect(toPlainValue(value)).toBe(value);
});

test("refuses to write a value that contains itself", { tags: "rest" }, () => {
  expect(() => toJson(HOSTILE_CYCLE)).toThrow(/circular/);
  expect(() => toPlainValue(HOSTILE_CYCLE)).toThrow(/circular/);
  const branching: Record<string, unknown> = {};
  Object.assign(branching, { a: branching, b: branching });
  expect(() => toPlainValue(branching)).toThrow(/circular/);
});
