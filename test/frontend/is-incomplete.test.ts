import { expect, test } from "vitest";

import { isIncomplete } from "../../src/frontend/index.ts";

test.each([
  "foo(",
  "if (a) {",
  "const x =",
  "[1,\n2,",
  "`a\n${b}",
  "/* a",
  "const x: number = f({",
  "interface A {",
  '{"name": "MathSkill.add",',
  "```js\n1",
  "a ?",
  "async () => {\n  await b;\n",
])("waits for more lines after %j [O6]", (text) => {
  expect(isIncomplete(text)).toBe(true);
});

test.each([
  "",
  "1",
  "foo()",
  "foo)",
  '"abc',
  "/a",
  "const x: number = 1",
  '{ a: 1, b: "c" }',
  '{"name": "MathSkill.add", "arguments": {}}',
  "```js\nfoo(\n```",
  "for x in y:",
  "a b",
  "(".repeat(5_000),
])("does not wait for more lines after %j [O6]", (text) => {
  expect(isIncomplete(text)).toBe(false);
});
