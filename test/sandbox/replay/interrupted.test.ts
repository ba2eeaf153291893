import { isDeepStrictEqual } from "node:util";
import { expect, test } from "vitest";

import { repetitions } from "../../support/repetitions.ts";
import type { SandboxAnswer, SandboxCall } from "../../../sandbox/index.ts";
import { answer, LIMITS, openSandbox } from "../../support/sandbox.ts";
import {
  createProvider,
  createRandom,
  createReplayProvider,
  describeExecution,
  type Entry,
  type Execution,
  execute,
  listCalls,
} from "./run-record.ts";
import { createProgram, programs, type RecordableProgram, START } from "./programs.ts";

const sandbox = openSandbox(2);
const other = openSandbox(1);

/** How often each program is recorded. */
const ROUNDS = repetitions(1, 2);

/** Few enough calls at a time that some of them wait. */
const OPTIONS = { limits: { ...LIMITS, callsInFlight: 5 } };

test.each(programs)(
  "repeats $name, interrupted at any entry of its record [R1, R2]",
  { tags: "rest", timeout: 120_000 },
  async ({ program }) => {
    for (let round = 1; round <= ROUNDS; round++) {
      const original = await execute(sandbox, program, createProvider(round), [], OPTIONS);
      await expectSameReplay(program, original);
      for (let at = 1; at < original.entries.length; at++)
        await expectToContinue(program, original, original.entries.slice(0, at), round + at);
    }
  },
);

test.each(programs)(
  "continues $name after several interruptions [R2]",
  async ({ program }) => {
    const random = createRandom(7);
    let entries: readonly Entry[] = [];
    for (let life = 1; life <= 5; life++) {
      const execution = await execute(other, program, createProvider(life), entries, OPTIONS);
      expect(execution.diverged).toEqual([]);
      await expectSameReplay(program, execution);
      const { length } = execution.entries;
      entries = execution.entries.slice(0, entries.length + Math.floor(random() * (length - entries.length)));
    }
  },
  120_000,
);

test("finds another value if the deliveries are repeated in another order [R1]", async () => {
  const program = createProgram(
    "const seen = []; await Promise.all([1, 2].map((n) => device.T.read(n).then((v) => seen.push(v)))); return seen",
  );
  const deliveries = [
    { ids: [2], time: START },
    { ids: [1], time: START },
  ];
  const answerCall = async ({ id }: SandboxCall): Promise<SandboxAnswer> => answer(id);
  const values = [deliveries, deliveries.toReversed()].map(async (order) => {
    const { end } = await sandbox.run({ ...program, deliveries: order }, answerCall);
    return end.kind === "returned" && end.json;
  });
  expect(await Promise.all(values)).toEqual(["[2,1]", "[1,2]"]);
});

/** Continues an interrupted execution, and compares it with a replay of all that was recorded then. */
async function expectToContinue(
  program: RecordableProgram,
  original: Execution,
  entries: readonly Entry[],
  seed: number,
): Promise<void> {
  const continued = await execute(other, program, createProvider(seed), entries, OPTIONS);
  expect(continued.diverged).toEqual([]);
  const ended = new Set(entries.flatMap((entry) => (entry.kind === "ended" ? [entry.id] : [])));
  expect(continued.performed.filter((id) => ended.has(id))).toEqual([]);
  // A call that was under way may still wait for another one when the continued execution ends.
  const missing = listCalls(entries).filter((call) => !continued.calls.some((other) => isDeepStrictEqual(call, other)));
  expect(continued.outcome.queued).toEqual(expect.arrayContaining(missing.map(({ path }) => path)));
  const printsBefore = entries.findLast((entry) => entry.kind === "delivered")?.used.prints ?? 0;
  const prints = [...original.prints.slice(0, printsBefore), ...continued.prints];
  expect(prints.toSorted()).toEqual(continued.outcome.output.split("\n").filter(Boolean).toSorted());
  await expectSameReplay(program, continued);
}

/** Replays a complete execution with answers that arrive in another order. */
async function expectSameReplay(program: RecordableProgram, recorded: Execution): Promise<void> {
  const replay = await execute(
    other,
    program,
    createReplayProvider(recorded.entries.length),
    recorded.entries,
    OPTIONS,
  );
  expect(replay.diverged).toEqual([]);
  expect(describeExecution(replay)).toEqual(describeExecution(recorded));
  const deliveries = ({ entries }: Execution): number => entries.filter(({ kind }) => kind === "delivered").length;
  expect(deliveries(replay)).toBe(deliveries(recorded));
}
