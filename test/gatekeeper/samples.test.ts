import { describe, expect, test } from "vitest";

import type { Verdict } from "../../src/gatekeeper/index.ts";
import { readPrograms } from "../support/corpus.ts";
import { check, pathsWith } from "./stubs.ts";

const granted = pathsWith("allow", "approve");

const verdicts = new Map<string, Verdict>();

/** Checks a program once for all tests. */
function checkOnce(code: string): Verdict {
  const verdict = verdicts.get(code) ?? check(code);
  verdicts.set(code, verdict);
  return verdict;
}

describe("refuses hostile samples [S5]", () => {
  const samples = readPrograms("attacks");

  test.each(samples.filter(({ end }) => end === "refused"))("refuses $id before anything runs [S5]", ({ code }) => {
    const { violations, program } = checkOnce(code);
    expect(program).toBeUndefined();
    expect(violations.length).toBeGreaterThan(0);
    expect(violations.length).toBeLessThanOrEqual(50);
  });

  test("completes every violation of every sample, in the order of the text [S5]", { tags: "rest" }, () => {
    for (const { code } of samples) {
      const { violations } = checkOnce(code);
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

  test("accepts no sample that gets a method which its caller may not call [S6]", () => {
    for (const { code } of samples) {
      const paths = checkOnce(code).program?.paths ?? [];
      expect(paths.filter((path) => path.includes(".") && !granted.includes(path))).toEqual([]);
    }
  });
});

test.each(readPrograms("benign"))("accepts $id [S1, S2, S3, S4]", ({ code }) => {
  expect(check(code).violations).toEqual([]);
});
