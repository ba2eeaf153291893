import { expect, test } from "vitest";

import { findShapeExcess, MAX_OBJECT_NAMES } from "../../src/shared/json/json-shape.ts";

function wide(count: number, name = "name"): string {
  return JSON.stringify(Object.fromEntries(Array.from({ length: count }, (_, at) => [name + at, at])));
}

test.each([
  ["an object with as many names as allowed", wide(MAX_OBJECT_NAMES)],
  ["many objects, which have more together", `[${Array.from({ length: 200 }, () => wide(100)).join(",")}]`],
  ["a long list", JSON.stringify(Array.from({ length: 100_000 }, (_, at) => at))],
  ["colons and brackets in texts", JSON.stringify({ text: String.raw`:{["\":`.repeat(50_000) })],
  ["a hundred thousand levels", "[".repeat(100_000) + "]".repeat(100_000)],
  ["a text that does not end", `{"a":"${"x".repeat(100_000)}`],
])("accepts %s [S7]", (_what, json) => {
  expect(findShapeExcess(json)).toBe(undefined);
});

test.each([
  ["in the whole", wide(MAX_OBJECT_NAMES + 1)],
  ["in a member, after texts with quotes", `{"a":"\\"\\\\","b":[${wide(MAX_OBJECT_NAMES + 1, '"\\')}]}`],
])("refuses an object with too many names %s [S7]", (_where, json) => {
  expect(JSON.parse(json)).toBeTypeOf("object");
  expect(findShapeExcess(json)).toBe("an object with more than 10000 names");
});

test("refuses a text with too many levels [S7]", () => {
  expect(findShapeExcess("[".repeat(100_001))).toBe("more than 100000 levels of lists and objects");
});
