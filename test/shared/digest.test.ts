import { createHash } from "node:crypto";
import * as fc from "../support/fuzz.ts";
import { expect, test } from "vitest";

import { canonicalText, hashValue } from "../../src/shared/digest.ts";

test("the digest is SHA-256 of canonical JSON, the first 16 digits [S12]", () => {
  const canonical = '{"a":[1,-0.5,1e+21,"é\\n"],"b":{"c":null,"d":true}}';
  expect(canonicalText({ b: { d: true, c: null, e: undefined }, a: [1, -0.5, 1e21, "é\n"] })).toBe(canonical);
  const digest = createHash("sha256").update(canonical).digest("hex").slice(0, 16);
  expect(hashValue(JSON.parse(canonical))).toBe(digest);
});

test("keys stand in the order of their UTF-16 units, as RFC 8785 asks [S12]", () => {
  const keys = ["\u20ac", "\r", "\ufb33", "1", "\u{1f600}", "\u0080", "\u00f6"];
  const sorted = ["\r", "1", "\u0080", "\u00f6", "\u20ac", "\u{1f600}", "\ufb33"];
  const members = sorted.map((key) => `${JSON.stringify(key)}:0`).join(",");
  expect(canonicalText(Object.fromEntries(keys.map((key) => [key, 0])))).toBe(`{${members}}`);
});

test("values that differ have texts that differ [P6]", () => {
  const values = [
    undefined,
    null,
    "null",
    0,
    "0",
    false,
    "",
    [],
    {},
    [[]],
    [{}],
    [null],
    [undefined],
    { a: null },
    { a: [] },
    NaN,
    "NaN",
    1n,
    "1n",
    new Date(0),
    "date(0)",
    new Uint8Array([1]),
    [1],
    "bytes(AQ==)",
    JSON.parse('{"__proto__": 1}'),
    { constructor: 1 },
    Infinity,
  ];
  expect(new Set(values.map(canonicalText)).size).toBe(values.length);
});

test("canonical JSON is JSON, and does not depend on the order of keys [S12]", { tags: "repeated" }, () => {
  fc.assert(
    fc.property(fc.jsonValue(), (value) => {
      expect(JSON.parse(canonicalText(value))).toEqual(JSON.parse(JSON.stringify(value)));
      expect(canonicalText(reversed(value))).toBe(canonicalText(value));
    }),
  );
});

test("any depth and any circle has a digest [S12]", { tags: "rest" }, () => {
  let deep: unknown = [];
  for (let level = 0; level < 200_000; level++) deep = { a: deep };
  expect(hashValue(deep)).toMatch(/^[0-9a-f]{16}$/);
  const circle: unknown[] = [];
  circle.push(circle);
  expect(hashValue(circle)).toMatch(/^[0-9a-f]{16}$/);
});

/** The same value with its keys the other way round. */
function reversed(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(reversed);
  if (typeof value !== "object" || value === null) return value;
  return Object.fromEntries(
    Object.entries(value)
      .map(([key, inner]) => [key, reversed(inner)] as const)
      .toReversed(),
  );
}
