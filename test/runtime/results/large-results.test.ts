import { afterAll, beforeAll, expect, test, vi } from "vitest";

import { createRuntime, type Runtime } from "../../../src/index.ts";
import type { Caller } from "../../../src/model/caller.ts";

let runtime: Runtime;
beforeAll(async () => {
  runtime = await createRuntime({ skillsDir: false, workers: 1 });
});
afterAll(() => runtime.close());

const ROWS = "Array.from({ length: 1_000 }, (_, id) => ({ id, name: `customer ${id}`, tags: ['a'] }))";

function callerNamed(id: string): Caller {
  return { id, permissions: ["call:*"] };
}

test("shows a result larger than a model should read as its type, count, first items and a handle [R7]", async () => {
  const outcome = await runtime.run(ROWS, { caller: callerNamed("shapes") });
  expect(outcome).toMatchObject({ kind: "completed", value: { length: 1_000 } });
  expect(outcome.text).toBe(
    [
      "The result is a list of 1,000 items, 45,781 characters of JSON.",
      "Type: { id: number; name: string; tags: string[] }[]",
      "It begins:",
      `[{"id":0,"name":"customer 0","tags":["a"]},{"id":1,"name":"customer 1","tags":["a"]},{"id":2,"name":"customer 2","tags":["a"]},"… 997 more"]`,
      'The whole value is device.result("r1") in a later program',
    ].join("\n"),
  );
});

test("gives the value to a later program of the same caller and of no other [R7]", async () => {
  const [ada, bob] = [callerNamed("ada"), callerNamed("bob")];
  await runtime.run(`({ at: new Date(0), text: "x".repeat(20_000) })`, { caller: ada });
  const read = `const r = device.result("r1"); [r.at.getTime(), r.text.length]`;
  expect(await runtime.run(read, { caller: ada })).toMatchObject({ kind: "completed", value: [0, 20_000] });
  expect(await runtime.run(read, { caller: bob })).toMatchObject({
    kind: "failed",
    error: { message: 'Cannot complete the call: there is no result "r1"; no result is at hand (CALL_FAILED)' },
  });
  const unknown = await runtime.run(`await device.result("r7")`, { caller: ada });
  expect(unknown.text).toContain('there is no result "r7"; there are r1 (an object with 2 members)');
});

test("keeps the last twenty results of a caller, and no more than 16 MB of them [R7]", { tags: "rest" }, async () => {
  const many = callerNamed("many");
  for (let n = 1; n <= 22; n++) await runtime.run(`"${"x".repeat(9)}".repeat(2_000) + ${n}`, { caller: many });
  const gone = await runtime.run(`await device.result("r2")`, { caller: many });
  expect(gone.text).toMatch(/there are r3 \(a text of 18,001 characters\), .*r22 \(a text of 18,002 characters\)/);
  expect(await runtime.run(`(await device.result("r22")).at(-1)`, { caller: many })).toMatchObject({ value: "2" });
  const big = callerNamed("big");
  const limits = { resultBytes: 4 << 20 };
  for (let n = 0; n < 5; n++) await runtime.run(`"x".repeat(4_000_000)`, { caller: big, limits });
  expect((await runtime.run(`await device.result("r1")`, { caller: big })).text).toContain("there are r2 (");
});

test("gives no handle for a value that no call may return, which can be read in parts [S11]", async () => {
  const outcome = await runtime.run(`"x".repeat(5_000_000)`);
  expect(outcome.text).toMatch(/^The result has 5,000,002 characters of JSON\. It begins:\n"x+…\nNote: .*read_result/);
  expect(outcome.text).not.toContain("device.result(");
});

test("shows as much as answerTokens allow [R7]", async () => {
  const source = `"x".repeat(1_000)`;
  expect((await runtime.run(source)).text).toHaveLength(1_000);
  const less = await runtime.run(source, { limits: { answerTokens: 100 } });
  expect(less.text).toContain("The result is a text of 1,000 characters");
  expect((await runtime.run(ROWS, { limits: { answerTokens: 20_000 } })).text).toHaveLength(45_781);
});

test.each([
  ['"42"', '"42"'],
  ["'{\"a\":1}'", '"{\\"a\\":1}"'],
  ["'[1]'", '"[1]"'],
  ['"true"', '"true"'],
  ['"null"', '"null"'],
  ['"plain text"', "plain text"],
  ['"2026-01-02"', "2026-01-02"],
  ["42", "42"],
  ["({ a: 1 })", '{"a":1}'],
])("shows a text in quotes where it could be taken for another value: %s [S3]", async (source, text) => {
  expect((await runtime.run(source)).text).toBe(text);
});

test("prints lists of small rows whole, also deep inside of an answer [S3]", async () => {
  const rows = "{ data: { page: { result: { orders: [{ id: 1, customer: { name: 'Ada' } }] } } } }";
  expect(await runtime.run(`print(${rows})`)).toMatchObject({
    output: '{data: {page: {result: {orders: [{id: 1, customer: {name: "Ada"}}]}}}}',
  });
});

test("parses a large result in its worker, and here when its value is read [R7]", async () => {
  const parse = vi.spyOn(JSON, "parse");
  try {
    const outcome = await runtime.run(ROWS, { caller: callerNamed("unparsed") });
    const countLarge = (): number => parse.mock.calls.filter(([text]) => text.length > 40_000).length;
    expect(outcome.text).toContain("a list of 1,000 items, 45,781 characters of JSON");
    expect(countLarge()).toBe(0);
    expect(outcome).toMatchObject({ value: { length: 1_000, 999: { id: 999, name: "customer 999" } } });
    expect(outcome.kind === "completed" && outcome.value).toBe(outcome.kind === "completed" && outcome.value);
    expect(countLarge()).toBe(1);
  } finally {
    parse.mockRestore();
  }
});

test("describes bytes by their number and their beginning [R7]", async () => {
  const outcome = await runtime.run(`new Uint8Array(100_000)`, { caller: callerNamed("bytes") });
  expect(outcome.text).toMatch(/^The result is 100,000 bytes\. They begin, in base64:\nA{2000}…\nThe whole value is/);
  expect(outcome).toMatchObject({ kind: "completed", value: { length: 100_000 } });
  const inside = await runtime.run(`({ file: new Uint8Array(100_000) })`, { caller: callerNamed("bytes") });
  expect(inside.text).toContain(`{"file":"100,000 bytes, in base64: ${"A".repeat(300)}…"}`);
});
