import type { SandboxAnswer } from "../../sandbox/index.ts";
import type { CallRecord } from "../model/outcome.ts";
import type { Cassette } from "./cassette.ts";
import type { RunHeader, StoredOutcome } from "./header.ts";
import type { StoredCall } from "./run-record.ts";

/** The path of the question for the input of a run. */
export const INPUT_PATH = "input";

/** Stands for the input in a record, which has it only once, in its header. */
const IN_HEADER: SandboxAnswer = { ok: true, json: '"the input of the run"' };

/** Returns the answer of a call as it is recorded. */
export function toRecordedAnswer(path: string, answer: SandboxAnswer): SandboxAnswer {
  return path === INPUT_PATH && answer.ok ? IN_HEADER : answer;
}

/** Returns the answer of a recorded call as the program got it. */
export function restoreAnswer(path: string, answer: SandboxAnswer, { input }: Pick<RunHeader, "input">): SandboxAnswer {
  return path === INPUT_PATH && answer.ok ? { ok: true, json: JSON.stringify(input ?? null) } : answer;
}

/**
 * Returns the cassette of a program that asks for its input before anything else, and then does what the recorded program did: the
 * numbers of all calls and timers are one higher.
 */
export function withInputCall(cassette: Cassette, input: unknown): Cassette {
  const { header, calls, deliveries, outcome } = cassette;
  return {
    ...cassette,
    header: { ...header, input },
    calls: [createInputCall(header.time), ...calls.map((call) => ({ ...call, id: call.id + 1 }))],
    deliveries: [
      { ids: [1], time: header.time },
      ...deliveries.map(({ ids, time }) => ({ ids: ids.map((id) => id + 1), time })),
    ],
    ...(outcome && { outcome: withNextNumbers(outcome) }),
  };
}

function createInputCall(time: number): StoredCall {
  return {
    id: 1,
    path: INPUT_PATH,
    args: "[]",
    isEffect: false,
    state: "ended",
    digest: "",
    answer: IN_HEADER,
    outcome: undefined,
    durationMs: 0,
    notes: [],
    time,
    beginTime: undefined,
    endTime: time,
  };
}

function withNextNumbers(outcome: StoredOutcome): StoredOutcome {
  const { calls = [] } = outcome as { readonly calls?: readonly CallRecord[] };
  return { ...outcome, calls: calls.map((call) => ({ ...call, id: call.id + 1 })) } as StoredOutcome;
}
