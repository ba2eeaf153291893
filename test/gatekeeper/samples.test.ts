import { describe, expect, test } from "vitest";

import { readPrograms } from "../support/corpus.ts";
import { check, pathsWith } from "./stubs.ts";

const granted = pathsWith("allow", "approve");

describe("S5: hostile samples", () => {
  const samples = readPrograms("attacks");

  test.each(samples.filter(({ end }) => end === "refused"))("S5: $id is refused before anything runs", ({ code }) => {
    const { violations, program } = check(code);
    expect(program).toBeUndefined();
    expect(violations.length).toBeGreaterThan(0);
    expect(violations.length).toBeLessThanOrEqual(50);
  });

  test("S5: every violation of every sample has all its parts, in the order of the text", () => {
    for (const { code } of samples) {
      const { violations } = check(code);
      let before = 0;
      for (const { message, code: name, line, column, frame, fix } of violations) {
        expect(message.endsWith(`(${name})`)).toBe(true);
        expect(frame).toMatch(/^> *\d+ \|/m);
        expect(fix).not.toBe("");
        expect(line * 1e6 + column).toBeGreaterThanOrEqual(before);
        before = line * 1e6 + column;
      }
    }
  });

  test("S6: no sample that is let through gets a method that its caller may not call", () => {
    for (const { code } of samples) {
      const paths = check(code).program?.paths ?? [];
      expect(paths.filter((path) => path.includes(".") && !granted.includes(path))).toEqual([]);
    }
  });
});

test.each(readPrograms("benign"))("S1 S2 S3 S4: $id is let through", ({ code }) => {
  expect(check(code).violations).toEqual([]);
});
