import { expect, test } from "vitest";

import { decode } from "../../sandbox/codec/guest-value.ts";
import { decodeArguments, decodeFromGuest, encodeForGuest } from "../../src/shared/value-encoding.ts";

const encoded = (value: unknown): ReturnType<typeof encodeForGuest> => encodeForGuest(value, 1_000);
const said = (json: string) => () => decode(json, "dates");

test("S9: what a method returns is JSON; bytes and dates say what they are", () => {
  expect(encoded({ a: [1, "x", null] })).toEqual({ json: '{"a":[1,"x",null]}', tagged: false });
  expect(encoded({ at: new Date(0) })).toEqual({
    json: '{"at":{"$date":"1970-01-01T00:00:00.000Z"}}',
    tagged: true,
  });
  expect(encoded(new Uint8Array([1, 2, 3]))).toEqual({ json: '{"$bytes":"AQID"}', tagged: true });
  expect(encoded(Buffer.from("hi"))).toEqual({ json: '{"$bytes":"aGk="}', tagged: true });
});

test("S9: what JSON has no word for has a documented one", () => {
  expect(encoded(undefined)).toEqual({ json: '{"$undefined":1}', tagged: true });
  expect(encoded([Number.NaN, Infinity, undefined])?.json).toBe('[null,null,{"$undefined":1}]');
  expect(encoded([12n, 2n ** 64n])?.json).toBe('[12,"18446744073709551616"]');
  expect(encoded(new Map([["a", 1]]))?.json).toBe('{"a":1}');
  expect(encoded(new Map([[1, 2]]))?.json).toBe("[[1,2]]");
  expect(encoded(new Set([1, 2]))?.json).toBe("[1,2]");
});

test("S9: what JSON would write as nothing is written as what it holds", () => {
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

test("S9: what writes itself is asked what it is", () => {
  expect(encoded({ toJSON: () => new Map([["a", 1n]]) })?.json).toBe("{}");
  expect(encoded([{ toJSON: () => "me" }, new URL("https://e.x")])?.json).toBe('["me","https://e.x/"]');
  expect(encoded({ list: [new Set([new Date(0)])] })).toEqual({
    json: '{"list":[[{"$date":"1970-01-01T00:00:00.000Z"}]]}',
    tagged: true,
  });
});

test("S7: an answer that is certainly too long is not written at all", () => {
  const circle: Record<string, unknown> = {};
  circle[""] = circle;
  for (const value of ["x".repeat(1_001), Array(1_001), { ["x".repeat(1_000)]: 1 }, new Uint8Array(1_001), circle])
    expect(encoded(value)).toBeUndefined();
  expect(encoded("x".repeat(1_000))?.json).toHaveLength(1_002);
});

test("S9: __proto__ stays data in both directions", () => {
  const value = decodeFromGuest('{"__proto__":{"polluted":{"$bytes":"AQ=="}}}') as object;
  expect(Object.getPrototypeOf(value)).toBe(Object.prototype);
  expect(Object.keys(value)).toEqual(["__proto__"]);
  expect(Reflect.get({}, "polluted")).toBeUndefined();
  expect(encoded(JSON.parse('{"__proto__":1}'))?.json).toBe('{"__proto__":1}');
});

test("S9: an argument that was left out is undefined again", () => {
  expect(decodeArguments(said('[{"$undefined":1},2]'), "bytes")).toEqual([undefined, 2]);
  expect(decodeArguments(said('[{"$undefined":1,"more":2}]'), "bytes")).toEqual([{ $undefined: 1, more: 2 }]);
});

test("S9: bytes reach a local skill as bytes and an MCP server as base64", () => {
  expect(decodeArguments(said('[{"data":{"$bytes":"AQI="}}]'), "bytes")).toEqual([{ data: new Uint8Array([1, 2]) }]);
  expect(decodeArguments(said('[{"data":{"$bytes":"AQI="}}]'), "base64")).toEqual([{ data: "AQI=" }]);
});

test("S6: what is no argument list is nothing", () => {
  expect(decodeArguments(said("{"), "bytes")).toBeUndefined();
  expect(decodeArguments(said('{"0":1}'), "bytes")).toBeUndefined();
});
