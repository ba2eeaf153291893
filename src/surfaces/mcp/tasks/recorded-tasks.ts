import { ProtocolError, ProtocolErrorCode } from "@modelcontextprotocol/server";

import { SkillgateError } from "../../../errors.ts";
import type { Caller } from "../../../model/caller.ts";
import type { Outcome } from "../../../model/outcome.ts";
import type { RecordedRunFacts } from "../../../runtime.ts";
import type { RuntimeView } from "../../../runtime/api/view.ts";
import { canAskUser, createApprovalForm, readApprovalAnswer } from "../approve.ts";
import { type CanAnswer, fits } from "../sessions/client-answers.ts";
import type { Questions } from "../sessions/multi-turn-request.ts";
import { runResult } from "../tools/tool-results.ts";
import { formatTask, type Task, type TaskState } from "./extension.ts";

type RunApproval = NonNullable<Awaited<ReturnType<RuntimeView["approvals"]["get"]>>>;

/** Finds a recorded run of a caller. Others do not exist for it, also if it may administer the runtime. */
async function findRun(view: RuntimeView, id: string): Promise<RecordedRunFacts | undefined> {
  try {
    const run = await view.runs.get(id);
    return run.caller === view.caller.id ? run : undefined;
  } catch (error) {
    if (error instanceof SkillgateError && error.code === "RUN_NOT_FOUND") return undefined;
    throw error;
  }
}

/**
 * Reads the task of a recorded run. A run that waits for a person asks the client, if the client can answer; else the text of
 * the task says what it waits for.
 */
export async function readRecordedTask(view: RuntimeView, id: string, can: CanAnswer): Promise<Task | undefined> {
  const run = await findRun(view, id);
  if (run === undefined) return undefined;
  const outcome = await view.runs.outcome(id);
  const approvals = await findApprovals(view, outcome);
  const questions = can("elicitation/create") ? approvals.filter(canAskUser) : [];
  const message = describeWaiting(approvals);
  const facts = { id, created: run.created, updated: run.updated, ttlMs: null, message };
  return formatTask(facts, getState(run, outcome, createQuestions(questions, view.caller), view));
}

function getState(
  { state }: RecordedRunFacts,
  outcome: Outcome | undefined,
  inputRequests: Questions,
  { shared: { limits } }: RuntimeView,
): TaskState {
  if (state === "cancelled") return { status: "cancelled" };
  if (Object.keys(inputRequests).length > 0) return { status: "input_required", inputRequests };
  if (outcome === undefined || outcome.kind === "waiting") return { status: "working" };
  return { status: "completed", result: runResult({ outcome, limits }) };
}

async function findApprovals(
  { approvals }: RuntimeView,
  outcome: Outcome | undefined,
): Promise<readonly RunApproval[]> {
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
  view: RuntimeView,
  id: string,
  responses: Readonly<Record<string, unknown>>,
): Promise<boolean> {
  if ((await findRun(view, id)) === undefined) return false;
  const { caller } = view;
  const approvals = await findApprovals(view, await view.runs.outcome(id));
  for (const approval of approvals.filter(canAskUser)) {
    const response = Object.hasOwn(responses, approval.id) ? responses[approval.id] : undefined;
    if (!fits("elicitation/create", createApprovalForm(approval, caller), response)) continue;
    await answerApproval(view, approval, readApprovalAnswer(response, approval, caller));
  }
  return true;
}

async function answerApproval(
  { approvals }: RuntimeView,
  { id }: RunApproval,
  answer: ReturnType<typeof readApprovalAnswer>,
): Promise<void> {
  const scope = answer === false ? {} : { scope: answer };
  try {
    await approvals.answer(id, { approve: answer !== false, ...scope, wasAsked: true });
  } catch (error) {
    // Another person has answered.
    if (!(error instanceof SkillgateError) || error.code !== "APPROVAL_CLOSED") throw error;
  }
}

/** Cancels a recorded run that has not ended; false if the caller has no such run. */
export async function cancelRecordedTask(view: RuntimeView, id: string): Promise<boolean> {
  const run = await findRun(view, id);
  if (run === undefined) return false;
  try {
    if (run.ended === null) await view.runs.cancel(id);
  } catch (error) {
    if (!(error instanceof SkillgateError)) throw error;
    throw new ProtocolError(ProtocolErrorCode.InternalError, error.message);
  }
  return true;
}
