import { afterAll, beforeAll, describe, expect, test } from "vitest";

import { OP } from "../../sandbox/guest/host-protocol.ts";
import type { Outcome, Runtime } from "../../src/index.ts";
import fc from "../support/fuzz.ts";
import { repetitions, takeShare } from "../support/repetitions.ts";
import { openTakenOver } from "../support/taken-over-guest.ts";

let runtime: Runtime;
let remove: () => void;
const unhandled: unknown[] = [];
const note = (reason: unknown): unknown => unhandled.push(reason);

beforeAll(async () => {
  process.on("unhandledRejection", note);
  const { skillgate, ...rest } = await openTakenOver();
  ({ remove } = rest);
  const echo = skillgate.defineSkill({
    name: "EchoSkill",
    description: "Gives back what it gets",
    methods: {
      back: {
        description: "Give back a value",
        input: { type: "object", properties: { value: {} } },
        run: async ({ value }: { value?: unknown }) => value,
      },
    },
  });
  runtime = await skillgate.createRuntime({ skillsDir: false, skills: [echo], mcpServers: {} });
});

afterAll(async () => {
  await runtime.close();
  remove();
  process.off("unhandledRejection", note);
});

/** A run whose guest says these things to the host, in order, and then waits; and after it an honest one. */
async function say(...messages: readonly (readonly unknown[])[]): Promise<Outcome> {
  const calls = messages.map((args) => `host(${args.map(sourceOf).join(", ")});`).join("\n");
  const source = `const host = ({}).rawHost;\n${calls}\nawait new Promise((done) => setTimeout(done, 5));\nreturn "end"`;
  const outcome = await runtime.run(source, { limits: { cpuMs: 3_000, wallMs: 10_000 } });
  expect(await runtime.run("20 + 22")).toMatchObject({ kind: "completed", value: 42 });
  expect(unhandled).toEqual([]);
  expect(outcome.text).not.toMatch(/JSON at position|Unexpected token|is not valid JSON|call stack|Cannot read prop/);
  return outcome;
}

/** A text is written as JSON, and a long one so that it is short in the source. */
function sourceOf(value: unknown): string {
  if (typeof value !== "string") return String(value);
  const [first = ""] = value;
  const isLong = value.length >= 1_000 && value === first.repeat(value.length);
  return isLong ? `${JSON.stringify(first)}.repeat(${value.length})` : JSON.stringify(value);
}

const NAMES = [
  "EchoSkill.back",
  "Echo",
  "read_result",
  "search_skills",
  "describe",
  "No.such",
  "",
  "\0",
  "a".repeat(600),
];
const TEXTS = ["", "{", "}", "NaN", "undefined", '[{"a":', '"', "[1,]", "null", "7", '"text"', "{}", "[]", "[null]"];
const LARGE = takeShare(3, ["[".repeat(300_000), "x".repeat(3_000_000), "9".repeat(400_000)]);

test("runs a taken-over guest without an invalid text like any other [S6]", async () => {
  expect(await say([OP.log, 0, "0", '"hello"'])).toMatchObject({ kind: "completed", value: "end" });
});

describe.each(Object.entries(OP))("a taken-over guest that sends %s", (_, op) => {
  test(
    "ends with an outcome for each text that is not valid JSON, or not of the expected form [S13]",
    { tags: "repeated" },
    async () => {
      for (const text of [...TEXTS, ...LARGE]) {
        const name = op === OP.call ? "EchoSkill.back" : "0";
        expect(["completed", "failed"], text.slice(0, 20)).toContain((await say([op, 1, name, text])).kind);
      }
    },
  );

  test("ends with an outcome for each name and number [S13]", { tags: "repeated" }, async () => {
    for (const name of NAMES)
      for (const id of takeShare(2, [0, -1, 2 ** 31, NaN])) {
        const outcome = await say([op, id, name, "[]"]);
        expect(["completed", "failed"], `${name} ${id}`).toContain(outcome.kind);
      }
  });
});

test.each(["{", "NaN", "undefined", '[{"a":'])("ends a run with ENGINE_TRAP for a result %s [S13]", async (text) => {
  expect(await say([OP.done, 0, "", text])).toMatchObject({ kind: "failed", error: { code: "ENGINE_TRAP" } });
});

test.each(["{", "NaN", "7", "[1]", "{}"])("ends a run with ENGINE_TRAP for an error %s [S13]", async (text) => {
  expect(await say([OP.fail, 0, "", text])).toMatchObject({ kind: "failed", error: { code: "ENGINE_TRAP" } });
});

test("reports a result that nests too deeply, even if the guest does not check it [S13]", async () => {
  for (const text of ["[".repeat(5_000), '{"a":'.repeat(501)])
    expect(await say([OP.done, 0, "", text])).toMatchObject({ kind: "failed", error: { code: "NESTING_LIMIT" } });
});

test.each(["read_result", "search_skills", "describe", "EchoSkill.back"])(
  "fails only the call for invalid arguments for %s [S13]",
  async (path) => {
    for (const text of ["{", "undefined", "NaN", "7", "[".repeat(2_000)]) {
      const outcome = await say([OP.call, 1, path, text]);
      expect(outcome, text.slice(0, 20)).toMatchObject({ kind: "completed", value: "end" });
    }
  },
);

/** A run whose code has the raw host function as `host`; and after it an honest one. */
async function runTakenOver(code: string): Promise<Outcome> {
  const outcome = await runtime.run(`const host = ({}).rawHost;\n${code}`, {
    limits: { cpuMs: 3_000, wallMs: 10_000 },
  });
  expect(await runtime.run("20 + 22")).toMatchObject({ kind: "completed", value: 42 });
  expect(unhandled).toEqual([]);
  return outcome;
}

/** Values that a guest can pass where the host reads the engine's pointer to a promise. */
const POINTERS: Readonly<Record<string, string>> = {
  "addresses below the memory, in it and past its end":
    "[0, 1, 3, 7, 64, 4096, 90_001, 5_400_000, 5_400_001, 16_777_152, 16_777_153, 16_777_208, 2 ** 26, 2 ** 31 - 1, -(2 ** 31), -1, -64, -65]",
  "addresses all over the heap": "Array.from({ length: 50 }, (_, i) => 5_300_000 + i * 215_173)",
  "addresses of forged promises whose data lies outside":
    "((forged) => Object.assign(Array.from({ length: 50 }, (_, i) => 6_000_000 + i * 400_000), { forged }))(new BigUint64Array(1 << 20).fill((51n << 48n) | 0xfffffff0n))",
  "numbers whose low half is an address": "Array.from({ length: 50 }, (_, i) => 5e-324 * (5_300_000 + i * 215_173))",
  "values without a pointer":
    "[undefined, null, true, false, NaN, Infinity, 1.5, 10n ** 40n, Symbol('s'), Symbol.iterator]",
  "objects that are no promises":
    "[{}, [], () => 1, new ArrayBuffer(64), new Uint32Array(64).fill(0xffffffff), new Map(), /r/, new Date(), 'text']",
  "objects that look like promises":
    "[Object.create(Promise.prototype), new Proxy(Promise.resolve(1), {}), new Proxy({}, { getPrototypeOf: () => Promise.prototype }), { then() {} }, { get then() { throw 1 } }]",
  "promises that are freed": "Array.from({ length: 50 }, () => undefined)",
  "promises of other kinds":
    "[Promise.resolve(1), new Promise(() => {}), (class Job extends Promise {}).resolve(2), Object.setPrototypeOf(new Promise(() => {}), null), Promise.prototype]",
};

test.each(Object.entries(POINTERS))("as the promise of a call are only a wrong mark: %s [S13]", async (kind, list) => {
  const freed = kind.endsWith("freed") ? "(async () => 1)()" : "value";
  const outcome = await runTakenOver(
    `const call = () => device.EchoSkill.back({ value: 40 });
    let sent = 0;
    for (const value of ${list}) host(${OP.call}, 1_000_000 + sent++, "EchoSkill.back", [{ value: 1 }], 1, ${freed});
    return [call() + 2, sent]`,
  );
  expect(outcome).toMatchObject({ kind: "completed", value: [42, expect.any(Number)] });
  const { value, calls } = outcome as Extract<Outcome, { readonly kind: "completed" }>;
  expect(calls.length).toBe(((value as readonly number[])[1] as number) + 1);
});

test.each(Object.entries(POINTERS))("as what is waited for are values, or are settled: %s [S13]", async (_, list) => {
  const outcome = await runTakenOver(
    `let settled = 0;
    for (const value of ${list}) for (const id of [0, 1, -1, 7]) try { host(${OP.settle}, id, "", value); settled++ } catch { settled++ }
    return settled % 4`,
  );
  expect(outcome.kind === "completed" ? outcome.value : outcome.kind).toBeOneOf([0, "failed"]);
});

test(
  "never rejects a run, whatever a taken-over guest sends [S13]",
  { tags: "repeated", timeout: 120_000 },
  async () => {
    const text = fc.oneof(
      fc.constantFrom(...TEXTS),
      fc.string({ maxLength: 40 }),
      fc.json({ maxDepth: 3 }).chain((json) => fc.nat(json.length).map((end) => json.slice(0, end))),
      fc.constantFrom(
        "Infinity",
        '[{"$bytes":1}]',
        '[{"$bytes":"%"}]',
        '[{"$undefined":1}]',
        '{"__proto__":{"$bytes":""}}',
      ),
    );
    const message = fc.tuple(
      fc.integer({ min: -1, max: 7 }),
      fc.constantFrom(0, 1, 2, -5, 2 ** 31 - 1),
      fc.constantFrom(...NAMES, "1", "-1", "NaN"),
      text,
    );
    const property = fc.asyncProperty(fc.array(message, { minLength: 1, maxLength: 4 }), async (messages) => {
      await say(...messages);
    });
    await fc.assert(property, { numRuns: repetitions(8, 50, 120) });
  },
);
