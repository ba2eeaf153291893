import type { Msg, NatsConnection } from "@nats-io/transport-node";

import { getMessage, SkillgateError } from "../errors.ts";
import { isRecord, parseJson } from "../model/json.ts";
import { KIND, MessageReader, readFields, type Signatures, type WholeMessage } from "../network/index.ts";
import { truncateText } from "../shared/format-text.ts";
import { extractContext, runInContext } from "../telemetry/index.ts";
import { type ExecutorNews, type JobResult, MAX_BYTES, parseJob } from "./protocol.ts";
import { type JobRuntime, RunningJob } from "./running-job.ts";
import { JOB_ID } from "./sent-job.ts";
import type { ExecutorSettings } from "./settings.ts";
import { readSigned, sendSigned, type SignedMessage } from "./signed-messages.ts";

/** The part of a runtime that executes runs. */
export interface ExecutingRuntime extends JobRuntime {
  readonly runs: JobRuntime["runs"] & {
    cancel(id: string): Promise<void>;
    /** Continues no more runs, and resolves when each run of this process has ended or waits for a person. */
    settle(): Promise<void>;
  };
  on(event: "catalog", listener: () => void): () => void;
}

export interface JobServerOptions {
  readonly settings: ExecutorSettings;
  readonly runtime: ExecutingRuntime;
  readonly signatures: Signatures;
  /** Returns what this executor says about itself. */
  readonly describe: () => ExecutorNews;
  readonly warn: (text: string) => void;
}

/** The time in which a front sends the run that was taken. */
const JOB_MS = 10_000;

const MAX_TEXT_UNITS = 8_000;

/** The jobs of one executor. */
export class JobServer {
  readonly #options: JobServerOptions;
  readonly #reader = new MessageReader(MAX_BYTES);
  readonly #jobs = new Map<string, RunningJob>();
  /** Runs that were taken and have not arrived, by the subject of their replies. */
  readonly #reservations = new Map<string, NodeJS.Timeout>();
  readonly #waiters = new Set<() => void>();
  #isTaking = true;

  constructor(options: JobServerOptions) {
    this.#options = options;
  }

  get size(): number {
    return this.#jobs.size;
  }

  /** Takes the run of an offer, or says that it cannot. */
  answerOffer(connection: NatsConnection, reply: string): void {
    const { settings, describe } = this.#options;
    const isFree = this.#isTaking && this.#jobs.size + this.#reservations.size < settings.concurrency;
    const release = (): void => this.#release(reply);
    if (isFree) this.#reservations.set(reply, setTimeout(release, JOB_MS).unref());
    const id = reply.slice(reply.lastIndexOf(".") + 1);
    const text = isFree ? JSON.stringify(describe()) : "{}";
    this.#send(connection, { subject: reply, kind: isFree ? "take" : "busy", id, text });
  }

  receive(connection: NatsConnection, part: Msg): void {
    const { reply = "" } = part;
    const message = this.#reader.add(part);
    if (message === undefined) return;
    this.#read(connection, message, reply).catch((error: unknown) => this.#refuse(connection, message, reply, error));
  }

  stopTaking(): void {
    this.#isTaking = false;
  }

  /** Resolves when each job has ended, or waits for a person. */
  settle(): Promise<void> {
    return this.#waitUntil(
      () => this.#reservations.size === 0 && [...this.#jobs.values()].every((job) => job.isWaiting),
    );
  }

  /** Cancels the jobs, except those that wait for a person: their runs continue without a front. */
  cancelAll(why: string): void {
    for (const job of this.#jobs.values()) if (!job.isWaiting) job.cancel(why);
  }

  /** Leaves the runs that wait for a person to others: their fronts get a message when they end here. */
  leaveWaiting(): void {
    for (const job of this.#jobs.values()) if (job.isWaiting) job.leave();
  }

  /** Resolves when all jobs have ended, and their ends are sent. */
  whenEmpty(): Promise<void> {
    return this.#waitUntil(() => this.#jobs.size === 0);
  }

  async #read(connection: NatsConnection, message: WholeMessage, reply: string): Promise<void> {
    const { kind, text } = await readSigned(message, this.#options.signatures);
    const context = extractContext(readFields(message.headers));
    if (kind === "job") return runInContext(context, () => this.#start(connection, { id: message.id, reply, text }));
    const body = parseJson(text);
    if (kind === "answer" && isRecord(body)) this.#jobs.get(message.headers.get(JOB_ID))?.takeAnswer(message.id, body);
    if (kind === "cancel" && isRecord(body)) await this.#cancel(body);
  }

  #start(connection: NatsConnection, { id, reply, text }: JobMessage): void {
    const { signatures, runtime, warn } = this.#options;
    this.#release(reply);
    const job = parseJob(parseJson(text));
    if (job === undefined) throw new Error("The executor cannot read the run");
    // The same message again is the network's doing.
    if (this.#jobs.has(id)) return;
    const onWait = (): void => this.#callWaiters();
    const running = new RunningJob({ connection, id, reply, job, signatures, runtime, onWait });
    this.#jobs.set(id, running);
    running
      .execute()
      .catch((error: unknown) => warn(`Cannot answer for run ${job.runId}: ${getMessage(error)}`))
      .finally(() => {
        this.#jobs.delete(id);
        this.#callWaiters();
      })
      .catch(() => {}); // the failure was reported
  }

  async #cancel({ id, runId, why }: Readonly<Record<string, unknown>>): Promise<void> {
    const job = typeof id === "string" ? this.#jobs.get(id) : undefined;
    if (job !== undefined) return job.cancel(typeof why === "string" ? truncateText(why, 200) : undefined);
    if (typeof runId === "string") await this.#options.runtime.runs.cancel(runId);
  }

  /** Reports a message that cannot be used, and ends the run that it has. */
  #refuse(connection: NatsConnection, { id, headers }: WholeMessage, reply: string, error: unknown): void {
    const message = truncateText(getMessage(error), MAX_TEXT_UNITS);
    this.#options.warn(`Cannot use a message: ${message}`);
    if (headers.get(KIND) !== "job") return;
    this.#release(reply);
    const code = error instanceof SkillgateError ? { code: error.code } : {};
    const text = JSON.stringify({ error: { ...code, message } } satisfies JobResult);
    this.#send(connection, { subject: reply, kind: "result", id, text });
  }

  #send(connection: NatsConnection, message: SignedMessage): void {
    // A connection that has closed has no front.
    sendSigned(connection, this.#options.signatures, message).catch(() => {});
  }

  /** Ends the reservation of a run. */
  #release(reply: string): void {
    clearTimeout(this.#reservations.get(reply));
    this.#reservations.delete(reply);
    this.#callWaiters();
  }

  #callWaiters(): void {
    for (const waiter of this.#waiters) waiter();
  }

  #waitUntil(isSo: () => boolean): Promise<void> {
    return new Promise((resolve) => {
      const check = (): void => {
        if (!isSo()) return;
        this.#waiters.delete(check);
        resolve();
      };
      this.#waiters.add(check);
      check();
    });
  }
}

interface JobMessage {
  readonly id: string;
  /** The subject of the replies. */
  readonly reply: string;
  readonly text: string;
}
