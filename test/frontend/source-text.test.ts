import { describe, expect, test } from "vitest";

import { createSourceText, printableName, createViolation } from "../../src/shared/source-text.ts";

describe("frames [S10]", () => {
  test("shows the line between its neighbours, with a caret under each character [S10]", () => {
    expect(createSourceText("one\ntwo three\nfour\nfive").frame(8, 13)).toBe(
      "  1 | one\n> 2 | two three\n    |     ^^^^^\n  3 | four",
    );
  });

  test("shows a frame at the first and at the last line [S10]", () => {
    expect(createSourceText("one\ntwo").frame(0, 3)).toBe("> 1 | one\n    | ^^^\n  2 | two");
    expect(createSourceText("one\ntwo").frame(7, 7)).toBe("  1 | one\n> 2 | two\n    |    ^");
    expect(createSourceText("").frame(0, 0)).toBe("> 1 |\n    | ^");
  });

  test("pads line numbers to the widest [S10]", () => {
    const text = Array.from({ length: 12 }, (_, i) => `l${i + 1}`).join("\n");
    expect(createSourceText(text).frame(text.indexOf("l10"), text.indexOf("l10") + 3)).toBe(
      "   9 | l9\n> 10 | l10\n     | ^^^\n  11 | l11",
    );
  });

  test("marks a range of several lines in its first line [S10]", () => {
    expect(createSourceText("a(\n1)").frame(0, 5)).toBe("> 1 | a(\n    | ^^\n  2 | 1)");
  });

  test("cuts a long line and its neighbours to a window [S10]", () => {
    const long = `${"a".repeat(300)}XY${"b".repeat(300)}`;
    expect(createSourceText(`short\n${long}`).frame(306, 308)).toBe(
      `  1 | …\n> 2 | …${"a".repeat(40)}XY${"b".repeat(58)}…\n    | ${" ".repeat(41)}^^`,
    );
  });

  test("shows invisible characters visibly; a tab is one column [S10]", () => {
    expect(createSourceText("\ta\u202eb\u0007").frame(3, 4)).toBe("> 1 |  a�b�\n    |    ^");
    expect(createSourceText("a\r\nb").frame(0, 1)).toBe("> 1 | a\n    | ^\n  2 | b");
  });

  test("converts offsets and positions in both directions [S10]", () => {
    const places = createSourceText("ab\ncd\n");
    expect([0, 2, 3, 5, 6, 99].map((offset) => places.position(offset))).toEqual([
      { line: 1, column: 0 },
      { line: 1, column: 2 },
      { line: 2, column: 0 },
      { line: 2, column: 2 },
      { line: 3, column: 0 },
      { line: 3, column: 0 },
    ]);
    expect(places.offset({ line: 2, column: 1 })).toBe(4);
    expect(places.offset({ line: 9, column: 0 })).toBe(6);
  });
});

test("uses the fix of the error code for a violation without its own [S5]", () => {
  expect(
    createViolation(createSourceText("abc"), { code: "DEVICE_READONLY", values: "device", start: 1, end: 2 }),
  ).toEqual({
    code: "DEVICE_READONLY",
    message: "Cannot change device: device (DEVICE_READONLY)",
    line: 1,
    column: 1,
    endLine: 1,
    endColumn: 2,
    frame: "> 1 | abc\n    |  ^",
    fix: "Keep your own values in your own variables",
    suggestions: [],
  });
});

test("shows names with a size limit and without invisible characters [S5]", () => {
  expect(printableName("a\u200db\u0000")).toBe("a\\u{200d}b\\u{0}");
  expect(printableName("x".repeat(100))).toBe(`${"x".repeat(59)}…`);
});
