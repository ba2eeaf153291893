import { afterAll, beforeAll, describe, expect, test } from "vitest";

import { createRuntime, defineSkill, type Outcome, type Runtime } from "../../../src/index.ts";
import { explainEngineError } from "../../../src/router/engine-errors.ts";

/** Mistakes that a skill can make; each is made by V8 itself. */
const MISTAKES: Readonly<Record<string, (nothing: never) => unknown>> = {
  readOfUndefined: (nothing) => (nothing as { a: { b: 1 } }).a.b,
  destructuring: (nothing) => {
    const { a } = nothing;
    return a;
  },
  notAFunction: () => ({}) as unknown as () => void,
  notIterable: () => [...(5 as unknown as number[])],
  overflow: function overflow(_nothing: never): unknown {
    return [overflow(undefined as never)];
  },
  arrayLength: () => Array.from({ length: -1 }).fill(0).length + "x".repeat(2 ** 30).length,
  json: () => JSON.parse("{") as unknown,
  cycle: () => {
    const self: Record<string, unknown> = {};
    self["self"] = self;
    return JSON.stringify(self);
  },
  bigint: () => JSON.stringify(1n),
  clone: () => structuredClone(() => 1),
};

const FaultySkill = defineSkill({
  name: "FaultySkill",
  description: "Has mistakes",
  methods: {
    fail: {
      description: "Make a mistake",
      input: { type: "object", properties: { how: { type: "string" } }, required: ["how"] },
      run: async ({ how }: { how: string }) => {
        const made = MISTAKES[how]?.(undefined as never);
        return typeof made === "object" ? (made as () => void)() : made;
      },
    },
    say: { description: "Say why it fails", run: () => Promise.reject(new Error("No city is called that")) },
  },
});

let runtime: Runtime;

beforeAll(async () => {
  runtime = await createRuntime({ skillsDir: false, skills: [FaultySkill], mcpServers: {} });
});

afterAll(() => runtime.close());

async function failed(source: string): Promise<Extract<Outcome, { kind: "failed" }>> {
  const outcome = await runtime.run(source);
  if (outcome.kind !== "failed") throw new Error(`it ${outcome.kind}: ${outcome.text}`);
  return outcome;
}

describe("a message of V8 in the error of a skill", () => {
  test.each(Object.keys(MISTAKES))("is put into a sentence that says whose mistake it is: %s [S10]", async (how) => {
    const { error } = await failed(`device.FaultySkill.fail("${how}")`);
    expect(error.message).toMatch(
      /^Cannot complete the call: "FaultySkill\.fail" failed in its own code: .+ \(CALL_FAILED\)$/,
    );
    expect(error.message).not.toContain("call stack");
    expect(error).toMatchObject({ code: "CALL_FAILED", line: 1 });
  });

  test("is distinguished from messages of the skill itself [S10]", async () => {
    expect((await failed("device.FaultySkill.say()")).error.message).toBe("No city is called that");
    for (const own of ["Cannot read the file notes.txt", "The list is not defined yet for Bern", "Invalid city"])
      expect(explainEngineError(own)).toBe(undefined);
  });
});

test.each([
  "null.x",
  "let u; u.a.b",
  "null[Symbol.iterator]",
  "const { a } = null",
  "x.y; let x = 1",
  "const c = 1; c = 2",
  "[].reduce((a, b) => a)",
  "new Array(-1)",
  "'x'.repeat(-1)",
  "(1).toFixed(200)",
  "JSON.parse('{')",
  "1n + 1",
  "[...5]",
  "Object.defineProperty(1, 'a', {})",
  "'a' in 5",
  "decodeURIComponent('%')",
  "new Date(NaN).toISOString()",
  "BigInt(1.5)",
  "Symbol() + ''",
  "({}).foo()",
  "new WeakMap().set(1, 1)",
  "Object.freeze([1]).push(2)",
  "JSON.stringify(1n)",
  "const z = {}; z.z = z; JSON.stringify(z)",
  "new RegExp('(')",
  "new Uint8Array(-1)",
  "const f = () => f(); f()",
  "class A {} A()",
  "Map()",
])("explains an error of the engine with what to do: %s [S10]", async (source) => {
  expect((await failed(source)).error.hint).toMatch(/^\S.{15,}/);
});

describe("a thrown value that is not an error", () => {
  test.each([
    ["throw { code: 7 }", 'Thrown: {"code":7}', 1, 6],
    ["let x = 1;\n  throw [x, 2]", "Thrown: [1,2]", 2, 8],
    ["throw 'x'", "Thrown: x", 1, 6],
    ["throw (1, { a: 2 })", 'Thrown: {"a":2}', 1, 7],
    ["throw new Map([['k', 1]])", 'Thrown: {"k":1}', 1, 6],
    ["const o = {}; o.o = o; throw o", "Thrown: an object that JSON cannot hold", 1, 29],
    ["try { throw { a: 1 } } catch (e) { throw e }", 'Thrown: {"a":1}', 1, 41],
    ["await Promise.reject({ a: 1 })", 'Thrown: {"a":1}', 1, 21],
    ["await new Promise((_, reject) => {\n reject([1]) })", "Thrown: [1]", 2, 8],
    ["const f = async () => { throw { late: true } };\nawait f()", 'Thrown: {"late":true}', 1, 30],
  ])("is shown as JSON with its position: %s [S10]", async (source, message, line, column) => {
    const { error, text } = await failed(source);
    expect(error).toMatchObject({ code: "THROWN", message, line, column });
    expect(text).toContain(error.frame);
    expect(error.frame).not.toBe("");
  });

  test.each([
    [
      "throw Object.assign(new Error('gone'), { status: 404, code: 'E_GONE' })",
      'Error: gone {"status":404,"code":"E_GONE"}',
    ],
    ["throw { message: 'own', status: 1 }", 'Error: own {"status":1}'],
    ["throw new Error('plain')", "Error: plain"],
    [
      "throw new TypeError('why', { cause: new Error('inner') })",
      'TypeError: why {"cause":{"name":"Error","message":"inner"}}',
    ],
    ["throw new Error('why', { cause: undefined })", "Error: why"],
    ["const e = new Error('loop'); e.cause = e; throw e", 'Error: loop {"cause":{"name":"Error","message":"loop"}}'],
    [
      "throw new AggregateError([new RangeError('a'), 7], 'many')",
      'AggregateError: many {"errors":[{"name":"RangeError","message":"a"},7]}',
    ],
    ["await Promise.any([Promise.reject(new Error('a'))])", "AggregateError: All promises were rejected: a"],
    ["JSON.parse('')", "SyntaxError: Unexpected end of JSON input"],
  ])("keeps its other members if it has a message: %s [S10]", async (source, message) => {
    expect((await failed(source)).error.message).toBe(message);
  });
});
