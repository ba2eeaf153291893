import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";

import { check, pathsWith } from "./stubs.ts";

interface Sample {
  readonly id: string;
  readonly code: string;
  readonly expect: string;
  readonly alsoOk: readonly string[];
}

const granted = pathsWith("allow", "approve");

describe("S5: hostile samples", () => {
  const samples = samplesIn("attacks");

  test.each(samples.filter((sample) => sample.expect === "rejected-static" && !sample.alsoOk.includes("contained")))(
    "S5: $id is refused before anything runs",
    ({ code }) => {
      const { violations, program } = check(code);
      expect(program).toBeUndefined();
      expect(violations.length).toBeGreaterThan(0);
      expect(violations.length).toBeLessThanOrEqual(50);
    },
  );

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

test.each(samplesIn("benign"))("S1 S2 S3 S4: $id is let through", ({ code }) => {
  expect(check(code).violations).toEqual([]);
});

/** One program a file, with what must become of it in the first line. */
function samplesIn(folder: "attacks" | "benign"): readonly Sample[] {
  const root = new URL(`../${folder}/`, import.meta.url).pathname;
  return readdirSync(root, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath, entry.name))
    .sort()
    .map((file) => {
      const text = readFileSync(file, "utf8");
      const end = text.indexOf("\n");
      const head = JSON.parse(text.slice(3, end)) as { expect: string; alsoOk?: readonly string[]; gen?: string };
      const code = head.gen === undefined ? text.slice(end + 1) : (new Function(`return (${head.gen})`)() as string);
      return { id: file.slice(root.length), code, expect: head.expect, alsoOk: head.alsoOk ?? [] };
    });
}
