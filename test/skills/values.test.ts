import { readFileSync } from "node:fs";

import { expect, onTestFinished, test } from "vitest";

import { createRuntime, type Runtime } from "../../src/index.ts";
import { project } from "../surfaces/cli/command.ts";

const VALUES = `
export const give = (kind: string): unknown => ({
  undefined, list: [undefined, 1], nan: NaN, infinity: -Infinity, exact: 5n, large: 2n ** 80n, fn: () => 1, symbol: Symbol("s"),
  map: new Map([["a", 1]]), pairs: new Map([[1, 2]]), set: new Set([1]), error: Object.assign(new TypeError("bad"), { status: 4 }),
  date: new Date(0), bytes: new Uint8Array([1, 2]), buffer: new Uint8Array([1, 2]).buffer, floats: new Float64Array([1.5]),
}[kind]);
export function cycle(): unknown { const self: Record<string, unknown> = {}; self.self = self; return self; }
export const take = (value?: unknown): string =>
  Object.prototype.toString.call(value).slice(8, -1) + " " + (value instanceof Uint8Array ? [...value] : JSON.stringify(value));
export const day = (date: Date): string => String(date instanceof Date) + date.getTime();
`;

async function open(): Promise<Runtime> {
  const cwd = project({ "skills/values.ts": VALUES });
  const runtime = await createRuntime({ cwd, mcpServers: {} });
  onTestFinished(() => runtime.close());
  await runtime.ready;
  return runtime;
}

async function text(runtime: Runtime, source: string): Promise<string> {
  return (await runtime.run(source)).text.split("\n")[0] ?? "";
}

test("what a method returns reaches a snippet as the page for skill authors says [S9]", async () => {
  const runtime = await open();
  const kind = (of: string): Promise<string> =>
    text(
      runtime,
      `const v = await device.ValuesSkill.give("${of}"); return Object.prototype.toString.call(v).slice(8, -1) + " " + (v instanceof Uint8Array ? [...v] : JSON.stringify(v))`,
    );
  for (const [of, expected] of [
    ["undefined", "Undefined undefined"],
    ["nan", "Null null"],
    ["infinity", "Null null"],
    ["exact", "Number 5"],
    ["large", 'String "1208925819614629174706176"'],
    ["map", 'Object {"a":1}'],
    ["pairs", "Array [[1,2]]"],
    ["set", "Array [1]"],
    ["error", expect.stringMatching(/^Object \{.*"name":"TypeError","message":"bad"/) as string],
    ["date", 'Date "1970-01-01T00:00:00.000Z"'],
    ["bytes", "Uint8Array 1,2"],
    ["buffer", "Uint8Array 1,2"],
    ["floats", "Array [1.5]"],
    ["fn", expect.stringContaining('"result" is a function') as string],
    ["symbol", expect.stringContaining('"result" is a symbol') as string],
  ] as const)
    expect([of, await kind(of)]).toEqual([of, expected]);
  expect(await text(runtime, "(await device.ValuesSkill.give('list')).map((x) => typeof x)")).toBe(
    '["undefined","number"]',
  );
  expect(await text(runtime, "device.ValuesSkill.cycle()")).toContain(
    "refers back to a value that contains it (a cycle)",
  );
});

test("what a snippet passes reaches a method as the page for skill authors says [S9]", async () => {
  const runtime = await open();
  for (const [value, expected] of [
    ["undefined", "Undefined undefined"],
    ["[undefined]", "Array [null]"],
    ["NaN", "Null null"],
    ["-Infinity", "Null null"],
    ["5n", "Number 5"],
    ["2n ** 80n", 'String "1208925819614629174706176"'],
    ["() => 1", "Undefined undefined"],
    ["Symbol('s')", "Undefined undefined"],
    ["new Map([['a', 1]])", 'Object {"a":1}'],
    ["new Map([[1, 2]])", "Array [[1,2]]"],
    ["new Set([1])", "Array [1]"],
    ["new TypeError('bad')", 'Object {"name":"TypeError","message":"bad"}'],
    ["new Date(0)", 'String "1970-01-01T00:00:00.000Z"'],
    ["new Uint8Array([1, 2])", "Uint8Array 1,2"],
    ["new Uint8Array([1, 2]).buffer", "Uint8Array 1,2"],
    ["new Float64Array([1.5])", "Array [1.5]"],
  ] as const)
    expect([value, await text(runtime, `device.ValuesSkill.take({ value: ${value} })`)]).toEqual([value, expected]);
  expect(await text(runtime, "device.ValuesSkill.day(new Date(7))")).toBe("true7");
  expect(await text(runtime, "const o = {}; o.o = o; device.ValuesSkill.take({ value: o })")).toContain(
    "circular reference",
  );
});

test("the page for skill authors has a row for each of these kinds", () => {
  const page = readFileSync("skills/README.md", "utf8");
  for (const kind of ["undefined", "NaN", "Infinity", "BigInt", "function", "Map", "Set", "Error", "Date", "bytes"])
    expect(page).toMatch(new RegExp(`^\\| [^|]*${kind}`, "m"));
});
