// @module-tag rest

import { expect, test } from "vitest";

import type { SandboxAnswer, SandboxCall } from "../../../sandbox/index.ts";
import { check } from "../../gatekeeper/stubs.ts";
import { readPrograms } from "../../support/corpus.ts";
import { repetitions, takeEvery } from "../../support/repetitions.ts";
import { answer, failure, openSandbox } from "../../support/sandbox.ts";
import { STUBS } from "../../support/stubs.ts";
import {
  createProvider,
  createRandom,
  createReplayProvider,
  describeExecution,
  execute,
  type Provider,
} from "./run-record.ts";
import { createProgram, type RecordableProgram } from "./programs.ts";

const sandbox = openSandbox(2);

/** Honest programs with at least two calls, as the gatekeeper writes them. */
const honest = readPrograms("benign").filter(({ calls = 0 }) => calls >= 2);
const programs = takeEvery(8, honest).flatMap(({ id, code }) => {
  const { program } = check(code);
  return program === undefined ? [] : [{ id, program: { ...createProgram(""), ...program } }];
});

test(
  "repeats and continues the honest programs of the corpus, interrupted anywhere [R1, R2]",
  { timeout: 120_000 },
  async () => {
    expect(programs.length).toBeGreaterThan(repetitions(20, 100));
    const random = createRandom(3);
    const different: string[] = [];
    let interruptions = 0;
    for (const { id, program } of programs) {
      const recorded = await execute(sandbox, program, callStubs(1));
      const { entries } = await execute(sandbox, program, callStubs(2), takePart(recorded.entries, random()));
      const continued = await execute(sandbox, program, callStubs(3), takePart(entries, random()));
      interruptions += 2;
      if (continued.diverged.length > 0) different.push(`${id} diverged`);
      for (const execution of [recorded, continued])
        if (!(await isRepeated(program, execution))) different.push(`${id} is not repeated`);
    }
    expect(different).toEqual([]);
    expect(interruptions).toBe(programs.length * 2);
  },
);

function takePart<Item>(items: readonly Item[], share: number): readonly Item[] {
  return items.slice(0, Math.floor(share * items.length));
}

async function isRepeated(program: RecordableProgram, recorded: Awaited<ReturnType<typeof execute>>): Promise<boolean> {
  const replay = await execute(sandbox, program, createReplayProvider(4), recorded.entries);
  return JSON.stringify(describeExecution(replay)) === JSON.stringify(describeExecution(recorded));
}

/** A provider of the stub skills, with a state of its own. */
function callStubs(seed: number): Provider {
  const context = { files: { ...STUBS.files }, state: {}, canaries: STUBS.canaries };
  return { ...createProvider(seed), answer: async (call) => callStub(call, context) };
}

function callStub({ path, arguments: json }: SandboxCall, context: object): SandboxAnswer {
  const stub = STUBS.tools[path];
  if (stub === undefined) return answer({ kind: "list", text: "", methods: [] });
  try {
    const [input = {}] = JSON.parse(json) as unknown[];
    const call = new Function("ctx", `return (${stub.impl})`)(context) as (input: unknown) => unknown;
    return answer(call(input));
  } catch (error) {
    return failure("CALL_FAILED", error instanceof Error ? error.message : "");
  }
}
