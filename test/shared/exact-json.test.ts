import { expect, test } from "vitest";

import {
  markNumbers,
  parseExactly,
  removeMarks,
  restoreNumbers,
  stringifyExactly,
} from "../../src/shared/json/exact-json.ts";

test("lets a text that knows the marks of answers change no quotes of a request [S6]", () => {
  const [mark = ""] = /exact-[\w-]+:/.exec(markNumbers("[[[1.50]]]")) ?? [];
  expect(mark).not.toBe("");
  const hostile = {
    name: "echo",
    data: { a: `h${mark}1`, "}},": `:${mark}0`, name: "wipe", z: `${mark}1.0`, [`${mark}1`]: `\\${mark}1` },
  };
  expect(stringifyExactly(hostile)).toBe(JSON.stringify(hostile));
  expect(removeMarks(JSON.stringify(hostile))).toBe(JSON.stringify(hostile));
});

test("writes a number inside a text of JSON without its mark, and keeps the text [M5]", () => {
  const inner = JSON.parse(markNumbers('{"a":[[1.50,-0,12345678901234567890]]}')) as object;
  restoreNumbers(inner);
  expect(stringifyExactly(inner)).toBe('{"a":[[1.50,-0,12345678901234567890]]}');
  expect(JSON.parse(stringifyExactly({ text: stringifyExactly(inner), inner }))).toMatchObject({
    text: '{"a":[[1.50,-0,12345678901234567890]]}',
  });
});

test("reads numbers beyond the limit of a text as JSON does, and writes JSON [S6]", { tags: "rest" }, () => {
  const value = parseOrRestore(`[[[${"1e999,".repeat(100_001)}1.0]]]`);
  const text = stringifyExactly(value);
  expect(text.slice(0, 9)).toBe("[[[1e999,");
  expect(text.slice(-12)).toBe("1e999,1.0]]]");
  expect(() => parseExactly("[[[-1e999]]]")).toThrow("the number -1e999");
});

test("reads values of any depth [S6]", () => {
  const json = `${"[".repeat(5_000)}1.0${"]".repeat(5_000)}`;
  expect(() => parseExactly(json)).not.toThrow();
});

function parseOrRestore(json: string): unknown {
  const root = { value: JSON.parse(markNumbers(json)) as unknown };
  restoreNumbers(root);
  return root.value;
}

test("marks of integers only those that a number cannot hold, so that other numbers cost nothing", () => {
  const others = `[${"1.0,1e5,0.12345678901234567,-0.0000001,-0,1234567890123456,".repeat(1_000)}1]`;
  expect(markNumbers(others, "value")).not.toBe(others);
  expect(markNumbers(others, "integers")).toBe(others);
  expect(markNumbers("[1.0,12345678901234567890]", "integers")).toMatch(/^\[1\.0,"\S+12345678901234567890"\]$/);
});
