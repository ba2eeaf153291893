import { ProtocolError, ProtocolErrorCode } from "@modelcontextprotocol/server";

import { SkillgateError } from "../../../errors.ts";
import { type Caller, OWNER } from "../../../model/caller.ts";
import type { Outcome } from "../../../model/outcome.ts";
import type { RecordedRunFacts, Runtime } from "../../../runtime.ts";
import { canAskUser, createApprovalForm, readApprovalAnswer } from "../approve.ts";
import { type CanAnswer, fits } from "../sessions/client-answers.ts";
import type { Questions } from "../sessions/multi-turn-request.ts";
import { runResult } from "../tools/tool-results.ts";
import { formatTask, type Task, type TaskState } from "./extension.ts";

type RunApproval = NonNullable<Awaited<ReturnType<Runtime["approvals"]["get"]>>>;

/** Finds a recorded run of a caller. Others do not exist for it, also if it may administer the runtime. */
async function findRun(runtime: Runtime, id: string, caller: Caller): Promise<RecordedRunFacts | undefined> {
  try {
    const run = await runtime.runs.get(id, { caller });
    return run.caller === caller.id ? run : undefined;
  } catch (error) {
    if (error instanceof SkillgateError && error.code === "RUN_NOT_FOUND") return undefined;
    throw error;
  }
}

/**
 * Reads the task of a recorded run. A run that waits for a person asks the client, if the client can answer; else the text of
 * the task says what it waits for.
 */
export async function readRecordedTask(
  runtime: Runtime,
  id: string,
  { caller, can }: { readonly caller: Caller; readonly can: CanAnswer },
): Promise<Task | undefined> {
  const run = await findRun(runtime, id, caller);
  if (run === undefined) return undefined;
  const outcome = await runtime.runs.outcome(id, { caller });
  const approvals = await findApprovals(runtime, outcome);
  const questions = can("elicitation/create") ? approvals.filter(canAskUser) : [];
  const message = describeWaiting(approvals);
  const facts = { id, created: run.created, updated: run.updated, ttlMs: null, message };
  return formatTask(facts, getState(run, outcome, createQuestions(questions, caller), runtime));
}

function getState(
  { state }: RecordedRunFacts,
  outcome: Outcome | undefined,
  inputRequests: Questions,
  { limits }: Runtime,
): TaskState {
  if (state === "cancelled") return { status: "cancelled" };
  if (Object.keys(inputRequests).length > 0) return { status: "input_required", inputRequests };
  if (outcome === undefined || outcome.kind === "waiting") return { status: "working" };
  return { status: "completed", result: runResult({ outcome, limits }) };
}

async function findApprovals({ approvals }: Runtime, outcome: Outcome | undefined): Promise<readonly RunApproval[]> {
  if (outcome?.kind !== "waiting") return [];
  const found = await Promise.all(outcome.approvals.map((id) => approvals.get(id)));
  return found.flatMap((approval) => (approval?.state === "pending" ? [approval] : []));
}

function createQuestions(approvals: readonly RunApproval[], caller: Caller): Questions {
  const forms = approvals.map((approval) => [
    approval.id,
    { method: "elicitation/create", params: createApprovalForm(approval, caller) },
  ]);
  return Object.fromEntries(forms) as Questions;
}

function describeWaiting(approvals: readonly RunApproval[]): string {
  const questions = approvals.map(({ id, path }) => `${path} (approval ${id})`);
  return questions.length === 0 ? "" : `Waits for the approval of ${questions.join(", ")}`;
}

/** Answers the questions of a run that waits; false if the caller has no such run. Answers that do not fit are ignored. */
export async function answerRecordedTask(
  runtime: Runtime,
  id: string,
  responses: Readonly<Record<string, unknown>>,
  caller: Caller,
): Promise<boolean> {
  if ((await findRun(runtime, id, caller)) === undefined) return false;
  const approvals = await findApprovals(runtime, await runtime.runs.outcome(id, { caller }));
  for (const approval of approvals.filter(canAskUser)) {
    const response = Object.hasOwn(responses, approval.id) ? responses[approval.id] : undefined;
    if (!fits("elicitation/create", createApprovalForm(approval, caller), response)) continue;
    await answerApproval(runtime, approval, readApprovalAnswer(response, approval, caller), caller);
  }
  return true;
}

async function answerApproval(
  { approvals }: Runtime,
  { id }: RunApproval,
  answer: ReturnType<typeof readApprovalAnswer>,
  caller: Caller,
): Promise<void> {
  // The user at a client is not an administrator, but the owner may approve for always.
  const isAdmin = answer === "always" && caller.id === OWNER.id;
  const scope = answer === false ? {} : { scope: answer };
  try {
    await approvals.answer(id, { approve: answer !== false, ...scope, by: caller.id, isAdmin });
  } catch (error) {
    // Another person has answered.
    if (!(error instanceof SkillgateError) || error.code !== "APPROVAL_CLOSED") throw error;
  }
}

/** Cancels a recorded run that has not ended; false if the caller has no such run. */
export async function cancelRecordedTask(runtime: Runtime, id: string, caller: Caller): Promise<boolean> {
  const run = await findRun(runtime, id, caller);
  if (run === undefined) return false;
  try {
    if (run.ended === null) await runtime.runs.cancel(id, { caller });
  } catch (error) {
    if (!(error instanceof SkillgateError)) throw error;
    throw new ProtocolError(ProtocolErrorCode.InternalError, error.message);
  }
  return true;
}
