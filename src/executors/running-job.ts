import type { NatsConnection } from "@nats-io/transport-node";

import { getMessage, sentence, SkillgateError } from "../errors.ts";
import { APPROVAL_SCOPES, type ApprovalAnswer, type Approve } from "../model/approval.ts";
import type { Caller } from "../model/caller.ts";
import type { Client } from "../model/client-requests.ts";
import { createCancelReason } from "../model/credential.ts";
import { KEPT_RESULT_BYTES, type ResultSpace } from "../model/kept-results.ts";
import type { Limits } from "../model/limits.ts";
import type { Outcome } from "../model/outcome.ts";
import type { RunObserver } from "../model/run-observer.ts";
import { KIND, sendMessage, type Signatures } from "../network/index.ts";
import { toStoredOutcome } from "../runs/index.ts";
import { createReportingObserver } from "./events.ts";
import { type Job, type JobResult, MAX_BYTES, type JobReplyKind } from "./protocol.ts";
import { createReturnedSpace, type ReturnedSpace } from "./returned-results.ts";
import { sendSigned } from "./signed-messages.ts";

/** Options of a run that a front hands over. */
interface JobRunOptions {
  readonly signal: AbortSignal;
  readonly observer: RunObserver;
  readonly approve?: Approve;
  readonly resultSpace: ResultSpace;
}

/** The part of a runtime that executes jobs. */
export interface JobRuntime {
  run(
    source: string,
    options: JobRunOptions & {
      readonly caller: Caller;
      readonly runId: string;
      readonly limits?: Partial<Limits>;
      readonly continue?: string;
      readonly again?: readonly number[];
      readonly reuse?: readonly number[];
    },
  ): Promise<Outcome>;
  readonly runs: {
    resume(id: string, options: JobRunOptions & { readonly acceptsChanges: boolean }): Promise<Outcome>;
  };
}

export interface RunningJobOptions {
  readonly connection: NatsConnection;
  readonly signatures: Signatures;
  readonly runtime: JobRuntime;
  /** The id of the job. */
  readonly id: string;
  /** The subject of the replies. */
  readonly reply: string;
  readonly job: Job;
  /** Is called when the run begins to wait for a person, and when it does not wait any more. */
  readonly onWait: () => void;
}

interface SentQuestion {
  readonly resolve: (value: unknown) => void;
  readonly reject: (error: Error) => void;
}

/** A job of a front while this process executes it. */
export class RunningJob {
  /** True while the run waits for a person, so that another process can continue it. */
  isWaiting = false;
  readonly #options: RunningJobOptions;
  readonly #controller = new AbortController();
  readonly #questions = new Map<string, SentQuestion>();
  readonly #results: ReturnedSpace;
  #questionCount = 0;
  /** Replies are sent one after the other: a long one has several parts. */
  #queue: Promise<void> = Promise.resolve();
  #isLeft = false;

  constructor(options: RunningJobOptions) {
    this.#options = options;
    this.#results = createReturnedSpace(options.job.handle, (question) => this.#ask({ ...question }));
  }

  /** Executes the job, and sends its result. */
  async execute(): Promise<void> {
    const result = await this.#getResult();
    for (const { reject } of this.#questions.values()) reject(createEndError());
    this.#questions.clear();
    if (this.#isLeft) await this.#reply("left", "{}");
    else await this.#reply("result", formatResult(result));
  }

  cancel(why: string | undefined): void {
    this.#controller.abort(why === undefined ? undefined : createCancelReason(why));
  }

  takeAnswer(questionId: string, { value, error }: Readonly<Record<string, unknown>>): void {
    const question = this.#questions.get(questionId);
    this.#questions.delete(questionId);
    if (typeof error === "string") question?.reject(new Error(error));
    else question?.resolve(value);
  }

  /** Tells the front at the end that the run is left to others, in place of its result. */
  leave(): void {
    this.#isLeft = true;
  }

  async #getResult(): Promise<JobResult> {
    try {
      const outcome = await this.#execute();
      return { outcome: toStoredOutcome(outcome, KEPT_RESULT_BYTES), ...this.#results.list() };
    } catch (error) {
      const facts = error instanceof SkillgateError ? { code: error.code, facts: error.facts } : {};
      return { error: { ...facts, message: getMessage(error) } };
    }
  }

  #execute(): Promise<Outcome> {
    const { runtime, job } = this.#options;
    const { approve, client } = job.asks;
    const options: JobRunOptions = {
      signal: this.#controller.signal,
      observer: { ...this.#createObserver(), ...(client.length > 0 && { client: this.#createClient(client) }) },
      resultSpace: this.#results.space,
      ...(approve && { approve: (request, closed) => this.#approve(request, closed) }),
    };
    if (job.kind === "resume") {
      const { runId, acceptsChanges } = job;
      return runtime.runs.resume(runId, { ...options, acceptsChanges });
    }
    const { source, caller, runId, limits, continue: run, again, reuse } = job;
    return runtime.run(source, {
      ...options,
      caller,
      runId,
      ...(limits !== undefined && { limits }),
      ...(run !== undefined && { continue: run }),
      ...(again !== undefined && { again }),
      ...(reuse !== undefined && { reuse }),
    });
  }

  #createObserver(): RunObserver {
    const observer = createReportingObserver(this.#options.job.asks.events, (...event) => {
      void this.#reply("event", JSON.stringify(event));
    });
    return {
      ...observer,
      onWait: (isWaiting) => {
        this.isWaiting = isWaiting;
        this.#options.onWait();
        observer.onWait?.(isWaiting);
      },
    };
  }

  #createClient(requests: readonly string[]): Client {
    return {
      can: (request) => requests.includes(request),
      ask: (request, params, key) => this.#ask({ what: "client", request, params, ...(key !== undefined && { key }) }),
    };
  }

  async #approve(...[request, closed]: Parameters<Approve>): Promise<ApprovalAnswer | undefined> {
    const answer = await this.#ask({ what: "approve", request }, closed);
    if (typeof answer === "boolean") return answer;
    return APPROVAL_SCOPES.find((scope) => scope === answer);
  }

  /** Asks the front, and resolves to its answer. */
  async #ask(question: Readonly<Record<string, unknown>>, closed?: AbortSignal): Promise<unknown> {
    const id = `${this.#options.id}.${++this.#questionCount}`;
    const answer = new Promise<unknown>((resolve, reject) => this.#questions.set(id, { resolve, reject }));
    const close = (): void => void this.#reply("closeQuestion", "{}", id);
    closed?.addEventListener("abort", close, { once: true });
    try {
      await this.#reply("question", JSON.stringify(question), id);
      return await answer;
    } finally {
      closed?.removeEventListener("abort", close);
      this.#questions.delete(id);
    }
  }

  #reply(kind: JobReplyKind, text: string, messageId?: string): Promise<void> {
    const { connection, signatures, id, reply: subject } = this.#options;
    const send = async (): Promise<void> => {
      if (connection.isClosed()) return;
      // Events are many, and decide nothing: they are not signed.
      if (kind === "event") await sendMessage(connection, { subject, id, bytes: Buffer.from(text), headers: EVENT });
      else await sendSigned(connection, signatures, { subject, kind, id: messageId ?? id, text });
    };
    this.#queue = this.#queue.then(send, send);
    return this.#queue;
  }
}

const EVENT = { [KIND]: "event" satisfies JobReplyKind };

function formatResult(result: JobResult): string {
  const text = JSON.stringify(result);
  if (Buffer.byteLength(text) <= MAX_BYTES) return text;
  const code = "RESULT_LIMIT";
  return JSON.stringify({ error: { code, message: sentence(code, `it has more than ${MAX_BYTES} bytes`) } });
}

function createEndError(): SkillgateError {
  return new SkillgateError("CALL_CANCELLED", sentence("CALL_CANCELLED", "the run has ended"));
}
