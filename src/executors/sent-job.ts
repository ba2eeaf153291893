import type { Cancellable } from "../../sandbox/index.ts";
import { getMessage, sentence } from "../errors.ts";
import { findCancelReason } from "../model/credential.ts";
import { isRecord, parseJson } from "../model/json.ts";
import type { RunObserver } from "../model/run-observer.ts";
import type { Machine } from "../network/index.ts";
import { passOn } from "./events.ts";
import { type Job, type JobResult, parseFacts, parseResult } from "./protocol.ts";

/** The part of a front that a job needs while an executor has it. */
export interface JobListener {
  readonly cancellable?: Cancellable | undefined;
  readonly observer: RunObserver;
  /** Resolves when the front leaves the run to the executor. */
  readonly left?: Promise<void>;
  /** Answers a question of the executor. `closed` fires when the answer is not needed any more. */
  readonly answer: (question: Readonly<Record<string, unknown>>, closed: AbortSignal) => Promise<unknown>;
}

/**
 * How a job ended for the front. `left`: the executor has left the run to others, or the front has left it to the executor.
 * `gone`: the executor does not exist any more; `process` is its name. `offline`: the network was interrupted.
 */
export type JobEnd =
  | { readonly kind: "result"; readonly result: Exclude<JobResult, { readonly left: true }> }
  | { readonly kind: "left" }
  | { readonly kind: "gone"; readonly process: string; readonly why: string }
  | { readonly kind: "offline" }
  | { readonly kind: "cancelled" };

/** Sends a job to an executor, and follows it until its end. Resolves to `refused` if the executor has not begun. */
export async function sendJob(
  executor: Machine,
  { token, job, listener }: { readonly token: string; readonly job: Job; readonly listener: JobListener },
): Promise<JobEnd | "refused"> {
  const questions = new Map<unknown, AbortController>();

  async function answer(id: unknown, question: Readonly<Record<string, unknown>>): Promise<void> {
    const controller = new AbortController();
    questions.set(id, controller);
    let body: Readonly<Record<string, unknown>>;
    try {
      body = { value: await listener.answer(question, controller.signal) };
    } catch (error) {
      body = { error: getMessage(error) };
    }
    if (questions.delete(id)) request.send(JSON.stringify({ id, ...body }));
  }

  function receive(text: string): void {
    const body = parseJson(text);
    const { kind, id, question, event } = isRecord(body) ? body : {};
    if (kind === "event") passOn(event, listener.observer);
    else if (kind === "closeQuestion") questions.get(id)?.abort("the question was answered elsewhere");
    else if (kind === "question" && isRecord(question)) void answer(id, question);
  }

  const request = executor.request("job", JSON.stringify({ token, job }), { onEvent: receive });
  const cancel = (): void => request.cancel(findCancelReason(listener.cancellable));
  const stopListening = listener.cancellable?.onCancel(cancel);
  // The same as if the executor had left the run to others.
  void listener.left?.then(() => request.end({ kind: "result", text: JSON.stringify({ left: true }) }));
  const end = await request.ended;
  stopListening?.();
  for (const question of questions.values()) question.abort("the run has ended");
  questions.clear();
  if (end.kind === "refusal" || (end.kind === "gone" && !end.isSent)) return "refused";
  if (end.kind === "gone") return { ...end, process: parseFacts(executor.facts)?.process ?? executor.device };
  if (end.kind !== "result") return end;
  const result = parseResult(parseJson(end.text)) ?? createInvalidResult();
  return "left" in result ? { kind: "left" } : { kind: "result", result };
}

function createInvalidResult(): JobResult {
  const code = "EXECUTOR_ANSWER_INVALID";
  return { error: { code, message: sentence(code, "its answer has neither an outcome nor an error") } };
}
