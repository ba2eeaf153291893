import fc from "../support/fuzz.ts";
import { repetitions } from "../support/repetitions.ts";
import { expect, test } from "vitest";

import { parseTagged } from "../../sandbox/index.ts";
import { jsonToValue } from "../../sandbox/codec/json-to-value.ts";
import { valueToJson } from "../../sandbox/codec/value-to-js.ts";
import { expression, LEAVES } from "./expressions.ts";
import { answer, LIMITS, openSandbox, run, runInChild, getValue, thrownBy } from "../support/sandbox.ts";

const sandbox = openSandbox(2);

/** The result of an expression as the engine writes it, and as `JSON.stringify` does: the word `toJSON` asks for it. */
async function bothWays(expression: string): Promise<readonly [fast: unknown, json: unknown]> {
  const fast = await run(sandbox, `return ${expression}`);
  const json = await run(sandbox, `/* toJSON */ return ${expression}`);
  return [allOf(fast.end), allOf(json.end)];
}

type End = { readonly kind: string; readonly json?: string; readonly tagged?: string };

function parseContent({ kind, json = "" }: End): unknown {
  return kind === "returned" && json !== "" ? JSON.parse(json) : kind;
}

/** Without dates, and with them. */
function allOf(end: End): readonly unknown[] {
  return [parseContent(end), end.tagged === undefined ? undefined : parseTagged(end.tagged)];
}

test("decodes a result in the engine's form like its JSON [S9]", { tags: "rest", timeout: 60_000 }, async () => {
  for (const leaf of LEAVES) {
    const [fast, json] = await bothWays(`{ v: ${leaf}, list: [${leaf}] }`);
    expect([leaf, fast]).toEqual([leaf, json]);
  }
  const property = fc.asyncProperty(expression, async (text) => {
    const [fast, json] = await bothWays(`[${text}]`);
    expect(fast).toEqual(json);
  });
  await fc.assert(property, { numRuns: repetitions(100, 300) });
});

test("calls the `toJSON` of objects that have one [S9]", async () => {
  expect(await getValue(sandbox, "class A { toJSON() { return 'A' } } return [new A(), { toJSON: () => 1 }]")).toEqual([
    "A",
    1,
  ]);
  expect(await getValue(sandbox, "return { at: new URL('https://e.x/a') }")).toEqual({ at: "https://e.x/a" });
  expect(await getValue(sandbox, "return device.Echo.back({ [['to', 'JSON'].join('')]: () => 'computed' })")).toBe(
    "computed",
  );
});

test("waits only for arguments that contain promises [S9]", async () => {
  expect(
    await getValue(sandbox, "return device.Echo.back({ a: device.Echo.back(1), b: [Promise.resolve(2)] })"),
  ).toEqual({
    a: 1,
    b: [2],
  });
});

test("measures a result by its JSON, even if its binary form is shorter [S7]", { tags: "rest" }, async () => {
  const code =
    "const name = 'x'.repeat(1000); const rows = []; for (let i = 0; i < 2000; i++) rows.push({ [name]: i }); return rows";
  const { end } = await run(sandbox, code, { limits: { ...LIMITS, resultBytes: 1_000_000 } });
  expect(end).toEqual({ kind: "stopped", reason: "RESULT_LIMIT" });
});

test("reports depth and cycles as errors of the program [S7]", async () => {
  const code = "let deep = []; for (let i = 0; i < 1e5; i++) deep = [deep]; return deep";
  const deep = await run(sandbox, code, { limits: { cpuMs: 2_000 } });
  expect(deep.end).toMatchObject({ kind: "threw", json: expect.stringContaining("NESTING_LIMIT") as string });
  const circle = await run(sandbox, "const circle = {}; circle.self = circle; return circle");
  expect(circle.end).toMatchObject({ kind: "threw", json: expect.stringContaining("circular") as string });
});

test("bytes that the engine did not write decode to undefined without an error [S9]", { tags: "repeated" }, () => {
  expect(valueToJson(Buffer.from("0500080201", "hex"), 100)).toBeUndefined(); // cut off
  expect(valueToJson(Buffer.from("05000801020502", "hex"), 100)).toBeUndefined(); // a name that is not there
  expect(valueToJson(Buffer.from("0500070278", "hex"), 100)).toBe('"x"');
  expect(valueToJson(Buffer.from("0500070278", "hex"), 2)).toBeUndefined(); // too long
  const property = fc.property(fc.uint8Array({ maxLength: 200 }), (bytes) => {
    const json = valueToJson(Buffer.concat([Buffer.from([5, 0]), bytes]), 1_000);
    if (json !== undefined && json !== "") JSON.parse(json);
  });
  fc.assert(property, { numRuns: repetitions(100, 1_000, 3_000) });
});

test(
  "limits the memory for a forged form to the permitted size of the value [S7]",
  { tags: "rest", timeout: 30_000 },
  async () => {
    const forged = await runInChild(
      ["--max-old-space-size=32"],
      `
    const { valueToJson } = await import(${JSON.stringify(new URL("../../dist/sandbox/codec/value-to-js.js", import.meta.url).href)});
    const head = (number) => Buffer.from([0, 7, 14, 21, 28].map((shift) => ((number >>> shift) & 127) | (shift < 28 ? 128 : 0)));
    const names = Buffer.concat([Buffer.from([5]), head(2e7), Buffer.alloc(2e7), Buffer.from([1])]);
    const wide = Buffer.concat([Buffer.from([5, 0, 7]), head(2e7 * 2 + 1), Buffer.alloc(4e7, Buffer.from([1, 0]))]);
    const narrow = Buffer.concat([Buffer.from([5, 0, 7]), head(2e7 * 2), Buffer.alloc(2e7, 1)]);
    const json = [[names, 100], [wide, 100], [wide, 2.1e7], [narrow, 2.1e7]].map(([bytes, most]) => valueToJson(bytes, most));
    process.stdout.write(json.map(String).join());`,
    );
    expect(forged).toEqual([0, "undefined,undefined,undefined,undefined"]);
  },
);

test("keeps strings with escapes whole at every boundary of a chunk [S9]", () => {
  for (const length of [16_382, 16_383, 16_384, 32_767, 32_768, 70_000])
    for (const text of ["\ud83c\udf89", "\ud800", "\udc00\ud800", "\ud800\ud83c\udf89", "\u0001", "ü", "€"]) {
      const string = Buffer.from("ab".repeat(length / 2) + (length % 2 === 1 ? "c" : "") + text.repeat(9), "utf16le");
      const head = (string.length / 2) * 2 + 1;
      const number = [(head & 127) | 128, ((head >>> 7) & 127) | 128, head >>> 14];
      const json = JSON.stringify(string.toString("utf16le"));
      expect(valueToJson(Buffer.concat([Buffer.from([5, 0, 7, ...number]), string]), 1e6)).toBe(json);
    }
});

test("transfers an object with tens of thousands of names in answers and results [S9]", { tags: "rest" }, async () => {
  const many = Object.fromEntries(Array.from({ length: 70_000 }, (_, i) => [`n${i}`, i]));
  // On a busy machine, a thread is billed for the time in which it waits for a core.
  const times = { cpuMs: 50_000, wallMs: 50_000 };
  const limits = { ...times, answerBytes: 4 << 20, resultBytes: 8 << 20 };
  const { end } = await run(sandbox, "return await device.Echo.back()", { limits }, () =>
    Promise.resolve({ ok: true, json: JSON.stringify(many) }),
  );
  expect(parseContent(end)).toEqual(many);
});

test.each(["", "/* toJSON */"])("refuses a call with an object of more than 10,000 names [S9] %s", async (before) => {
  const call = (names: number): string =>
    `${before} await device.Echo.back([{ x: Object.fromEntries(Array.from({ length: ${names} }, (_, n) => ["n" + n, ":"])) }])`;
  expect(await thrownBy(sandbox, call(10_001))).toMatchObject({
    code: "ARGUMENT_LIMIT",
    message: "Argument size limit exceeded: an object has more than 10000 names (ARGUMENT_LIMIT)",
  });
  expect((await run(sandbox, call(10_000))).end).toMatchObject({ kind: "returned" });
});

test("encodes JSON in the engine's form without changes [S9]", { tags: "repeated" }, () => {
  const property = fc.property(fc.json({ maxDepth: 6 }), (any) => {
    const json = JSON.stringify(JSON.parse(any));
    const binary = jsonToValue(json);
    expect(valueToJson(binary as Buffer, 1e6)).toBe(json);
  });
  fc.assert(property, { numRuns: repetitions(100, 1_000) });
});

test("leaves text that is not JSON, or is nested deeply, to the engine [S9]", () => {
  for (const text of [
    "",
    "[1,]",
    "{}{}",
    "tru",
    '"',
    '"\\"',
    "{1:2}",
    "[",
    "01x",
    "[".repeat(1e6),
    `${"[".repeat(501)}${"]".repeat(501)}`,
  ])
    expect(jsonToValue(text)).toBeUndefined();
});

test("delivers an answer of any length unchanged [S9]", { tags: "repeated" }, async () => {
  const values = fc.array(fc.jsonValue({ maxDepth: 4 }), { minLength: 1, maxLength: 30 });
  const property = fc.asyncProperty(values, async (given) => {
    const padded = JSON.parse(JSON.stringify([...given, "x".repeat(300)])) as unknown; // JSON has no -0
    expect(await getValue(sandbox, "return device.plain()", async () => answer(padded))).toEqual(padded);
    expect(await getValue(sandbox, "return __waitFor(device.plain())", async () => answer(padded))).toEqual(padded);
  });
  await fc.assert(property, { numRuns: repetitions(50, 100) });
});
