import { randomBytes } from "node:crypto";
import type { Msg, NatsConnection } from "@nats-io/transport-node";

import type { Cancellable } from "../../sandbox/index.ts";
import { getMessage, sentence, SkillgateError } from "../errors.ts";
import { findCancelReason } from "../model/credential.ts";
import { isRecord, parseJson } from "../model/json.ts";
import type { RunObserver } from "../model/run-observer.ts";
import { KIND, MessageReader, parseMessage, type Signatures, type WholeMessage } from "../network/index.ts";
import { injectContext } from "../telemetry/index.ts";
import { passOn } from "./events.ts";
import { type CommandKind, getExecutorSubject, type Job, type JobResult, MAX_BYTES, parseResult } from "./protocol.ts";
import { readSigned, sendSigned } from "./signed-messages.ts";

/** The part of a front that a job needs while an executor has it. */
export interface JobListener {
  readonly cancellable?: Cancellable | undefined;
  readonly observer: RunObserver;
  /** Answers a question of the executor. `closed` fires when the answer is not needed any more. */
  readonly answer: (question: Readonly<Record<string, unknown>>, closed: AbortSignal) => Promise<unknown>;
}

/**
 * How a job ended for the front. `left`: the executor has left the run to others. `gone`: the executor does not exist any
 * more; `process` is its name. `offline`: the network was interrupted.
 */
export type JobEnd =
  | { readonly kind: "result"; readonly result: JobResult }
  | { readonly kind: "left" }
  | { readonly kind: "gone"; readonly process: string; readonly why: string }
  | { readonly kind: "offline" }
  | { readonly kind: "cancelled" };

/** A job that an executor has. */
export interface SentJob {
  readonly runId: string;
  readonly ended: Promise<JobEnd>;
  receive(message: Msg): void;
  end(end: JobEnd): void;
  cancel(why?: string): void;
}

export interface SentJobOptions {
  readonly connection: NatsConnection;
  readonly signatures: Signatures;
  readonly executor: { readonly device: string; readonly id: string; readonly process: string };
  /** The id of the job, and the subject of its replies. */
  readonly id: string;
  readonly reply: string;
  readonly job: Job;
  readonly listener: JobListener;
}

/** Sends a job to an executor that has taken it, and follows it until its end. */
export function sendJob(options: SentJobOptions): SentJob {
  const { connection, signatures, executor, id, reply, job, listener } = options;
  const reader = new MessageReader(MAX_BYTES);
  const questions = new Map<string, AbortController>();
  let settle: (end: JobEnd) => void = () => {};
  const ended = new Promise<JobEnd>((resolve) => (settle = resolve));

  function end(how: JobEnd): void {
    settle(how);
    for (const question of questions.values()) question.abort("the run has ended");
    questions.clear();
    stopListening?.();
  }

  function send(kind: CommandKind, text: string, messageId = id): void {
    if (connection.isClosed()) return;
    const fields = { ...injectContext(), [JOB_ID]: id };
    const message = { subject: getExecutorSubject(executor), kind, id: messageId, text, reply, fields };
    sendSigned(connection, signatures, message).catch(() => {}); // a connection that closes ends the job by itself
  }

  const cancel = (why = findCancelReason(listener.cancellable)): void =>
    sendCancel(connection, signatures, { executor, id, runId: job.runId, why });

  async function answer(questionId: string, question: Readonly<Record<string, unknown>>): Promise<void> {
    const controller = new AbortController();
    questions.set(questionId, controller);
    let body: Readonly<Record<string, unknown>>;
    try {
      body = { value: await listener.answer(question, controller.signal) };
    } catch (error) {
      body = { error: getMessage(error) };
    }
    if (questions.delete(questionId)) send("answer", JSON.stringify(body), questionId);
  }

  async function read(message: WholeMessage): Promise<void> {
    const kind = message.headers.get(KIND);
    if (kind === "event") return passOn(parseMessage(message.bytes), listener.observer);
    const { text } = await readSigned(message, signatures, executor.device);
    const body = parseJson(text);
    if (kind === "left") end({ kind: "left" });
    else if (kind === "result") end({ kind: "result", result: parseResult(body) ?? createInvalidResult() });
    else if (kind === "closeQuestion") questions.get(message.id)?.abort("the question was answered elsewhere");
    else if (kind === "question" && isRecord(body)) await answer(message.id, body);
  }

  const stopListening = listener.cancellable?.onCancel(() => cancel());
  send("job", JSON.stringify(job));
  return {
    runId: job.runId,
    ended,
    end,
    cancel,
    receive(message) {
      if (message.headers?.code === 503)
        return end({ kind: "gone", process: executor.process, why: "is not connected any more" });
      const whole = reader.add(message);
      if (whole !== undefined) read(whole).catch((error: unknown) => end({ kind: "result", result: toFailure(error) }));
    },
  };
}

/** Asks an executor to end a job, or a run that it executes for another reason. */
export function sendCancel(
  connection: NatsConnection,
  signatures: Signatures,
  {
    executor,
    ...target
  }: Pick<SentJobOptions, "executor"> & {
    readonly id?: string;
    readonly runId: string;
    readonly why?: string | undefined;
  },
): void {
  if (connection.isClosed()) return;
  const id = `cancel.${randomBytes(8).toString("hex")}`;
  const message = { subject: getExecutorSubject(executor), kind: "cancel", id, text: JSON.stringify(target) };
  sendSigned(connection, signatures, message).catch(() => {}); // a connection that closes ends the job by itself
}

/** The header that has the id of the job. */
export const JOB_ID = "Sg-Job";

function toFailure(error: unknown): JobResult {
  const code = error instanceof SkillgateError ? { code: error.code } : {};
  return { error: { ...code, message: getMessage(error) } };
}

function createInvalidResult(): JobResult {
  const code = "EXECUTOR_ANSWER_INVALID";
  return { error: { code, message: sentence(code, "its answer has neither an outcome nor an error") } };
}
