import fc from "../support/fuzz.ts";
import { repetitions } from "../support/repetitions.ts";
import { expect, test } from "vitest";

import { jsonToValue } from "../../sandbox/codec/json-to-value.ts";
import type { DecodedValue, SandboxCall } from "../../sandbox/index.ts";
import { fitsInJson } from "../../sandbox/codec/size.ts";
import { plainJson } from "../../sandbox/shared/dates.ts";
import { PendingCall } from "../../sandbox/host/pending-call.ts";
import { valueToJs, valueToJson } from "../../sandbox/codec/value-to-js.ts";
import { expression, LEAVES } from "./expressions.ts";
import { answer, LIMITS, openSandbox, run, runInChild, getValue } from "../support/sandbox.ts";

const sandbox = openSandbox(2);

/** Makes any arguments too many for JSON. */
const LONG = '"x".repeat(10_000)';

interface Received {
  readonly isBytes: boolean;
  readonly given: DecodedValue;
  readonly json: string;
}

/** What reaches the host of a call with those arguments. */
async function received(list: string, prelude = ""): Promise<Received | undefined> {
  let seen: Received | undefined;
  await run(sandbox, `${prelude}; await device.Echo.back(${list})`, {}, async (call) => {
    seen = { isBytes: isBytes(call), given: call.readArguments(), json: call.arguments };
    return answer(1);
  });
  return seen;
}

function isBytes(call: SandboxCall): boolean {
  return call instanceof PendingCall && typeof call.call.arguments !== "string";
}

test("passes long arguments like their JSON [S9]", { tags: "rest", timeout: 60_000 }, async () => {
  let bytes = 0;
  const bothWays = async (text: string): Promise<void> => {
    const fast = await received(`${text}, ${LONG}`);
    const json = await received(`${text}, ${LONG}`, "/* toJSON */");
    expect(json?.isBytes ?? false).toBe(false);
    expect([text, fast?.given.value]).toEqual([text, json?.given.value]);
    expect(JSON.parse(fast?.json ?? "null")).toEqual(json?.given.value ?? null);
    bytes += Number(fast?.isBytes);
  };
  for (const leaf of LEAVES) await bothWays(`{ v: ${leaf}, list: [${leaf}] }`);
  expect(bytes).toBeGreaterThan(LEAVES.length / 2);
  await fc.assert(fc.asyncProperty(expression, bothWays), { numRuns: repetitions(40, 200) });
});

test("reads long arguments of a blocking call like short ones [S9]", async () => {
  const code = `
    const long = [{ a: 1 }, ${LONG}];
    return [__waitFor(device.Echo.back(long)).length, (await device.Echo.back(long, 1)).length, await device.Echo.back(2)]`;
  const respond = async (call: SandboxCall): Promise<ReturnType<typeof answer>> =>
    answer((call.readArguments().value as unknown[])[0]);
  expect(await getValue(sandbox, code, respond)).toEqual([2, 2, 2]);
});

test("treats special keys as data in long arguments [S9]", async () => {
  const keys = ["__proto__", "constructor", "toString", "hasOwnProperty", "then", "length", "0"];
  const text = JSON.stringify(keys.map((key) => `"${key}":{"polluted":1}`).join());
  const seen = await received(`JSON.parse("{" + ${text} + "}"), ${LONG}`);
  if (seen === undefined) throw new Error("nothing came");
  const [object] = seen.given.value as [object];
  expect(seen.isBytes).toBe(true);
  expect(Object.keys(object).toSorted()).toEqual(keys.toSorted());
  expect(Object.getPrototypeOf(object)).toBe(Object.prototype);
  expect(Object.values(Object.getOwnPropertyDescriptors(object))).toEqual(
    keys.map(() => ({ value: { polluted: 1 }, configurable: true, enumerable: true, writable: true })),
  );
  expect(Reflect.get({}, "polluted")).toBeUndefined();
});

test("marks bytes and omitted arguments of long arguments [S9]", async () => {
  const seen = await received(`undefined, { $bytes: "AA==" }, ${LONG}`);
  expect(seen?.isBytes).toBe(true);
  expect(seen?.given.value).toEqual([{ $undefined: 1 }, { $bytes: "AA==" }, "x".repeat(10_000)]);
  expect(["$bytes", "$undefined", "$date"].map((name) => seen?.given.mayHave(name))).toEqual([true, true, false]);
});

test.each([
  ["ASCII", '{ a: "x".repeat(50_000), b: [1, -20, true, false, null] }'],
  ["escapes", '"\\n".repeat(20_000)'],
  ["Latin-1", '"ü".repeat(20_000)'],
  ["characters in two parts", '"🎉\\ud800€".repeat(5_000)'],
  ["fractions", "Array.from({ length: 5_000 }, (_, i) => i / 7)"],
  ["whole numbers", "Array.from({ length: 20_000 }, (_, i) => i * 1_000)"],
  ["dates", "Array.from({ length: 2_000 }, (_, i) => new Date(i * 1e9))"],
])("measures arguments by their JSON, to the byte: %s [S7]", async (_, value) => {
  const jsonBytes = Buffer.byteLength((await received(value))?.json ?? "");
  const within = await run(sandbox, `await device.Echo.back(${value})`, { limits: { argumentBytes: jsonBytes } });
  expect(within.end.kind).toBe("returned");
  const { end } = await run(sandbox, `await device.Echo.back(${value})`, { limits: { argumentBytes: jsonBytes - 1 } });
  expect(end).toEqual({ kind: "stopped", reason: "ARGUMENT_LIMIT" });
});

/** Forms that the engine would write, and the same with some bytes changed. */
const form = fc
  .tuple(
    fc.array(fc.json({ maxDepth: 5 }), { minLength: 1, maxLength: 5 }),
    fc.array(fc.tuple(fc.nat(), fc.nat(255)), { maxLength: 6 }),
    fc.nat(40),
  )
  .map(([texts, changes, extra]) => {
    const json = JSON.stringify([JSON.parse(`[${texts.join()}]`), { a: 0.5, __proto: [], b: "ü€" }]);
    const bytes = Buffer.concat([jsonToValue(json) as Buffer, Buffer.alloc(extra, 17)]);
    for (const [at, byte] of changes) bytes[at % bytes.length] = byte;
    return bytes;
  });

test("decodes valid bytes of any author like their JSON [S9]", { tags: "rest", timeout: 60_000 }, () => {
  let passed = 0;
  let failed = 0;
  const property = fc.property(form, fc.nat(2_000), (bytes, most) => {
    const json = valueToJson(bytes, 1e6);
    if (!fitsInJson(bytes, most, 0, bytes.length)) {
      failed++;
      return;
    }
    passed++;
    if (json === undefined) throw new Error("passed, and has no JSON");
    const plain = plainJson(json);
    expect(Buffer.byteLength(plain)).toBeLessThanOrEqual(most);
    expect(JSON.stringify(valueToJs(bytes).value)).toBe(JSON.stringify(JSON.parse(plain)));
  });
  fc.assert(property, { numRuns: repetitions(500, 3_000, 20_000) });
  expect(Math.min(passed, failed)).toBeGreaterThan(repetitions(50, 300, 2_000));
});

test("decodes or refuses unchecked bytes, without side effects [S9]", { tags: "repeated", timeout: 60_000 }, () => {
  const before = Object.getOwnPropertyNames(Object.prototype);
  const property = fc.property(form, (bytes) => {
    try {
      JSON.stringify(valueToJs(bytes).value);
    } catch (error) {
      expect(error).toBeInstanceOf(Error);
    }
  });
  fc.assert(property, { numRuns: repetitions(200, 2_000, 10_000) });
  expect(Object.getOwnPropertyNames(Object.prototype)).toEqual(before);
});

test(
  "limits the memory for a forged form to the size of its bytes [S7]",
  { tags: "rest", timeout: 30_000 },
  async () => {
    const forged = await runInChild(
      ["--max-old-space-size=48"],
      `
    const { fitsInJson } = await import(${JSON.stringify(new URL("../../dist/sandbox/codec/size.js", import.meta.url).href)});
    const { valueToJs } = await import(${JSON.stringify(new URL("../../dist/sandbox/codec/value-to-js.js", import.meta.url).href)});
    const head = (number) => [0, 7, 14, 21, 28].map((shift) => ((number >>> shift) & 127) | (shift < 28 ? 128 : 0));
    const nested = Array.from({ length: 400 }, () => [9, ...head(900_000)]).flat();
    const forms = [
      [5, 0, 9, ...head(2 ** 32 - 1)],
      [5, 0, 8, ...head(2 ** 31)],
      [5, ...head(2 ** 32 - 1)],
      [5, 0, 7, ...head(2 ** 31)],
      [5, 0, 9, ...head(2 ** 28), 1],
    ].map((bytes) => Buffer.from(bytes));
    forms.push(Buffer.concat([Buffer.from([5, 0, ...nested]), Buffer.alloc(1_000_000, 1)]));
    const read = (bytes) => { try { return valueToJs(bytes) } catch (error) { return error.message } };
    process.stdout.write(forms.map((bytes) => fitsInJson(bytes, 1e7, 0, bytes.length) + " " + read(bytes)).join("\\n"));`,
    );
    const refusals = ["too many members", "too many members", "too many names", "cut off", "too many members"];
    expect(forged).toEqual([0, [...refusals, "too many members"].map((text) => `false ${text}`).join("\n")]);
  },
);

test("limits a value with repeated names to the size of its JSON [S7]", async () => {
  const code = `const name = "x".repeat(5_000); const rows = []; for (let i = 0; i < 2_000; i++) rows.push({ [name]: i }); await device.Echo.back(rows)`;
  const { end } = await run(sandbox, code, { limits: { ...LIMITS, argumentBytes: 9_000_000 } });
  expect(end).toEqual({ kind: "stopped", reason: "ARGUMENT_LIMIT" });
});

test("refuses positions outside of the memory [S9]", () => {
  const bytes = Buffer.from("0500070278", "hex");
  expect(fitsInJson(bytes, 100, 0, 5)).toBe(true);
  for (const [from, to] of [
    [-1, 5],
    [0, 6],
    [5, 0],
    [NaN, 5],
  ] as const)
    expect(fitsInJson(bytes, 100, from, to)).toBe(false);
});
