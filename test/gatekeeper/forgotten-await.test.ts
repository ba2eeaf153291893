import fc from "../support/fuzz.ts";
import { repetitions } from "../support/repetitions.ts";
import { afterAll, expect, test } from "vitest";

import { createSandbox } from "../../sandbox/index.ts";
import { DEFAULT_LIMITS } from "../../src/model/limits.ts";
import { createRegistry } from "../../src/registry/index.ts";
import { writeProgram } from "./programs.ts";
import { check, questions } from "./stubs.ts";

const sandbox = createSandbox({ limits: { ...DEFAULT_LIMITS, wallMs: 60_000 }, workers: 1 });
afterAll(() => sandbox.close());

const registry = createRegistry();
registry.register({
  name: "EchoSkill",
  description: "Gives back what it gets",
  source: "here",
  kind: "code",
  methods: [
    {
      name: "echo",
      description: "Gives its value back",
      input: { type: "object", properties: { value: {} }, required: ["value"] },
    },
  ],
  invoke: () => Promise.reject(new Error("Cannot call a method of a sample")),
});

const asked = { ...questions, catalog: registry.catalog, problems: () => [], findRefusal: () => undefined };

test.each([
  ["without a single await", "never"],
  ["with an await here and there", "sometimes"],
] as const)(
  "gives a program %s the value and the number of calls that it has when every call gives its value at once [S2]",
  { tags: "repeated", timeout: 600_000 },
  async (_how, awaits) => {
    const programs = fc.array(fc.nat({ max: 1_000 }), { minLength: 100, maxLength: 200 });
    await fc.assert(
      fc.asyncProperty(programs, async (choices) => {
        const source = writeProgram(choices, awaits);
        const plain = plainly(source);
        fc.pre(plain.value !== undefined && plain.calls < 100);
        expect(await runInside(source), source).toEqual(plain);
      }),
      { numRuns: repetitions(20, 100, 300) },
    );
  },
);

/** The value that the program has where calls and functions give their values at once. */
function plainly(source: string): { readonly value: unknown; readonly calls: number } {
  let calls = 0;
  const echo = (given: unknown): unknown => {
    calls++;
    return getValue(JSON.parse(JSON.stringify(given)));
  };
  const device = { EchoSkill: { echo } };
  const combinators = { all: (list: readonly unknown[]) => [...list] };
  const code = source.replaceAll(/async |await /g, "");
  const run = new Function("device", "Promise", `"use strict";${code}`) as (...given: readonly object[]) => unknown;
  try {
    const value: unknown = JSON.parse(JSON.stringify(run(device, combinators)));
    return { value, calls };
  } catch {
    return { value: undefined, calls }; // put together so that it fails, whoever runs it
  }
}

async function runInside(source: string): Promise<{ readonly value: unknown; readonly calls: number }> {
  const { program, violations } = check(source, asked);
  if (program === undefined) return { value: violations.map(({ message }) => message), calls: 0 };
  let calls = 0;
  const { end } = await sandbox.run({ ...program, paths: [...program.paths] }, ({ arguments: given }) => {
    calls++;
    const [value] = JSON.parse(given) as readonly unknown[];
    return Promise.resolve({ ok: true, json: JSON.stringify(getValue(value)) ?? "null" });
  });
  return { value: end.kind === "returned" ? JSON.parse(end.json) : { end, code: program.code }, calls };
}

function getValue(given: unknown): unknown {
  return typeof given === "object" && given !== null && "value" in given ? given.value : given;
}
