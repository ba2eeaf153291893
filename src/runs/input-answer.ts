import type { SandboxAnswer } from "../../sandbox/index.ts";
import type { RunHeader } from "./header.ts";

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
