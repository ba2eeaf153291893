import { expect, test } from "vitest";

import { checkTypes } from "../../src/typecheck/check-types.ts";
import { told } from "./samples.ts";

const MISTAKEN =
  "const user = await device.UserSkill.get(1);\nreturn [user.nmae, 'x'.repeat(2).lenght, xs.map(String)];";

/** Programs that would change what the next one sees, if names or types of theirs stayed. */
const CHANGES = [
  "var device = { UserSkill: { get: () => ({ nmae: 1 }) } };\nvar user = 5; var xs = [1];",
  "function __program() {}\nclass Array { map() {} }\nclass Promise {}\nvar String = 5;",
  "globalThis.device = 5; globalThis.xs = []; this.user = { nmae: 1 };",
  "Array.prototype.nmae = 5; String.prototype.lenght = 5; Object.prototype.nmae = 5;",
  "const __Declared = 5; const __Answer = 5; var undefined_ = xs;",
  "}\nvar device = 5; var xs = 5;\nasync function __other() {",
  "} export const device = 5; export default 5; { ",
  "/** @typedef {{ nmae: string }} User */\n/** @type {User} */ let user; module.exports = { device: 5 };",
];

test("checks a program as if it were the first, after programs that declare the same names [S5]", () => {
  const first = told(MISTAKEN);
  expect(first).toHaveLength(2);
  for (const code of CHANGES) {
    told(code);
    expect({ code, told: told(MISTAKEN) }).toEqual({ code, told: first });
  }
});

test("checks a program as if it were the first, after more programs than one checker reads [S5]", () => {
  const first = told(MISTAKEN);
  const data = `const data = ${JSON.stringify("x".repeat(50_000))};\n`;
  for (let round = 0; round < 25; round++) {
    expect(told(`${data}return device.UserSkill.get(1).nmae;`)).toEqual(first.slice(0, 1));
  }
  expect(told(MISTAKEN)).toEqual(first);
});

test("checks a program as if it were the first, after one that the compiler gives up on [S5]", () => {
  const first = told(MISTAKEN);
  const sum = `return ${"1 + ".repeat(30_000)}1;`;
  try {
    checkTypes({ code: sum, typescript: false, declarations: "" });
  } catch (error) {
    expect(error).toBeInstanceOf(RangeError);
  }
  expect(told(MISTAKEN)).toEqual(first);
});

test("checks each program against its own declarations [S5]", () => {
  const declare = (type: string): string =>
    `declare const device: { A: { get(id: ${type}): Promise<{ ${type}: 1 }>; get(args: { id: ${type} }): Promise<{ ${type}: 1 }>; }; };`;
  const check = (type: string): readonly string[] =>
    checkTypes({ code: 'return device.A.get("1").number', typescript: false, declarations: declare(type) }).map(
      ({ message }) => message,
    );
  const [asNumber, asString] = [check("number"), check("string")];
  expect(asNumber).toEqual(['"id" of A.get must be a number, not "1"']);
  expect(asString).toEqual([`"number" does not exist in the result of A.get; declared members: string`]);
  expect([check("number"), check("string")]).toEqual([asNumber, asString]);
});
