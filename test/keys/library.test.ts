// @module-tag rest

import { execFile } from "node:child_process";
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { promisify } from "node:util";
import { expect, test } from "vitest";

import { folder } from "../surfaces/serving.ts";

const PACKAGE = new URL("../../dist/src/index.js", import.meta.url).href;

/** Code before and after the example of the page. */
const BEFORE = `
import { createRuntime, defineSkill } from "skillgate";
const input = { type: "object", properties: { a: { type: "number" }, b: { type: "number" } } };
const add = { description: "Add", input, requiredScopes: ["math:use"], run: ({ a, b }) => a + b };
const runtime = await createRuntime({
  skillsDir: false,
  skills: [defineSkill({ name: "MathSkill", description: "Adds", methods: { add } })],
  store: process.argv[2],
});
runtime.on("run", ({ value }) => console.log(JSON.stringify({ value })));
`;
const AFTER = `
const { id, permissions, scopes, limits } = caller;
console.log(JSON.stringify({ permissions, scopes, limits, isNamed: id.startsWith("key:ada:") }));
console.log(JSON.stringify([await keys.authenticate(text), await keys.authenticate("sg_x")]));
await runtime.close();
`;

test("creates, verifies and revokes a key with the library, as the page says [P1]", async () => {
  const page = readFileSync("docs/library.md", "utf8");
  const example = [...page.matchAll(/```js\n(.*?)```/gs)].map(([, code = ""]) => code);
  const code = example.find((each) => each.includes("createKeys("));
  const file = join(folder(), "example.mjs");
  writeFileSync(file, `${BEFORE}${code}${AFTER}`.replaceAll('"skillgate"', JSON.stringify(PACKAGE)));
  const { stdout } = await promisify(execFile)(process.execPath, [file, folder()]);
  expect(
    stdout
      .trim()
      .split("\n")
      .map((line) => JSON.parse(line) as unknown),
  ).toEqual([
    { value: 3 },
    { permissions: ["call:MathSkill.*"], scopes: ["math:use"], limits: { perMinute: 60 }, isNamed: true },
    [null, null],
  ]);
});
