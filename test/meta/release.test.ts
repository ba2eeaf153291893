import { readFileSync } from "node:fs";
import { expect, test } from "vitest";
import { parse } from "yaml";

test("runs npm test on three systems with four versions of Node", () => {
  const { jobs } = parse(readFileSync(".github/workflows/test.yml", "utf8"));
  expect(jobs.test.strategy.matrix).toEqual({
    os: ["ubuntu-latest", "macos-latest", "windows-latest"],
    node: [20, 22, 24, 26],
  });
  expect(jobs.test.steps.at(-1)).toEqual({ run: "npm test" });
});

test("asks for the output of skillgate doctor --json in a report of a bug", () => {
  const { body } = parse(readFileSync(".github/ISSUE_TEMPLATE/bug.yml", "utf8"));
  expect(body.at(-1)).toMatchObject({
    attributes: { label: "The output of `skillgate doctor --json`" },
    validations: { required: true },
  });
});
