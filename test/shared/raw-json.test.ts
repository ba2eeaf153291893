import { expect, test } from "vitest";

import { RawJson, writeJson } from "../../src/shared/json/raw-json.ts";

test("writes a text of JSON as it is, and other values as ever", () => {
  const value = { a: [new RawJson(`{"n": 1.0}`), "$&"], b: new RawJson(`"$1"`) };
  expect(writeJson(value)).toBe(`{"a":[{"n": 1.0},"$&"],"b":"$1"}`);
  expect(JSON.stringify(value)).toBe(`{"a":[{"n":1},"$&"],"b":"$1"}`);
});

test("leaves a value that looks like a written mark as it is", () => {
  const [mark] = [new RawJson("1")].map((text) => String(writeJson({ text })));
  expect(mark).toBe(`{"text":1}`);
  expect(writeJson({ a: "text-0:0", b: new RawJson("[]") })).toBe(`{"a":"text-0:0","b":[]}`);
});
