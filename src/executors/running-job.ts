import { isRecord, parseJson } from "../model/json.ts";
import { createError, getMessage, sentence, SkillgateError } from "../errors.ts";
import { APPROVAL_SCOPES, type ApprovalAnswer, type Approve } from "../model/approval.ts";
import type { Caller } from "../model/caller.ts";
import type { Client } from "../model/client-requests.ts";
import { createCancelReason } from "../model/credential.ts";
import { KEPT_RESULT_BYTES, type ResultSpace } from "../model/kept-results.ts";
import type { Outcome } from "../model/outcome.ts";
import type { RunObserver } from "../model/run-observer.ts";
import type { IncomingRequest } from "../network/index.ts";
import { truncateText } from "../shared/format-text.ts";
import { toStoredOutcome } from "../runs/index.ts";
import { createReportingObserver } from "./events.ts";
import { type Job, type JobEvent, type JobResult, MAX_BYTES } from "./protocol.ts";
import { createReturnedSpace, type ReturnedSpace } from "./returned-results.ts";

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
    options: JobRunOptions & Omit<Extract<Job, { readonly kind: "run" }>, "kind" | "source" | "asks" | "handle">,
  ): Promise<Outcome>;
  readonly runs: {
    resume(
      id: string,
      options: JobRunOptions & { readonly acceptsChanges: boolean; readonly caller: Caller },
    ): Promise<Outcome>;
  };
}

export interface RunningJobOptions {
  readonly runtime: JobRuntime;
  readonly request: IncomingRequest;
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
  readonly #questions = new Map<unknown, SentQuestion>();
  readonly #results: ReturnedSpace;
  #questionCount = 0;
  #isLeft = false;

  constructor(options: RunningJobOptions) {
    this.#options = options;
    const { request } = options;
    request.onInput = (text) => this.#takeAnswer(parseJson(text));
    request.onCancel = (why) => this.cancel(why === "" ? undefined : truncateText(why, 200));
    this.#results = createReturnedSpace(options.job.handle, (question) => this.#ask({ ...question }));
  }

  /** Executes the job, and sends its result. */
  async execute(): Promise<void> {
    const result = await this.#getResult();
    for (const { reject } of this.#questions.values()) reject(createEndError());
    this.#questions.clear();
    await this.#options.request.send("result", formatResult(this.#isLeft ? { left: true } : result));
  }

  cancel(why: string | undefined): void {
    this.#controller.abort(why === undefined ? undefined : createCancelReason(why));
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
      const { runId, acceptsChanges, caller } = job;
      return runtime.runs.resume(runId, { ...options, acceptsChanges, caller });
    }
    const { source, caller, runId, limits, continue: run, again, reuse, asksForEffects = false } = job;
    const { input, inputSchema, isForeignInput = false, automation } = job;
    return runtime.run(source, {
      ...options,
      caller,
      runId,
      ...(limits !== undefined && { limits }),
      ...(run !== undefined && { continue: run }),
      ...(again !== undefined && { again }),
      ...(reuse !== undefined && { reuse }),
      asksForEffects,
      ...(input !== undefined && { input, isForeignInput }),
      ...(inputSchema !== undefined && { inputSchema }),
      ...(automation !== undefined && { automation }),
    });
  }

  #createObserver(): RunObserver {
    const observer = createReportingObserver(this.#options.job.asks.events, (...event) => {
      this.#send({ kind: "event", event });
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
    const id = ++this.#questionCount;
    const answer = new Promise<unknown>((resolve, reject) => this.#questions.set(id, { resolve, reject }));
    const close = (): void => this.#send({ kind: "closeQuestion", id });
    closed?.addEventListener("abort", close, { once: true });
    try {
      this.#send({ kind: "question", id, question });
      return await answer;
    } finally {
      closed?.removeEventListener("abort", close);
      this.#questions.delete(id);
    }
  }

  #takeAnswer(answer: unknown): void {
    const { id, value, error } = isRecord(answer) ? answer : {};
    const question = this.#questions.get(id);
    if (typeof error === "string") question?.reject(new Error(error));
    else question?.resolve(value);
  }

  #send(event: JobEvent): void {
    void this.#options.request.send("event", JSON.stringify(event));
  }
}

function formatResult(result: JobResult): string {
  const text = JSON.stringify(result);
  if (Buffer.byteLength(text) <= MAX_BYTES) return text;
  const code = "RESULT_LIMIT";
  return JSON.stringify({ error: { code, message: sentence(code, `it has more than ${MAX_BYTES} bytes`) } });
}

function createEndError(): SkillgateError {
  return createError("CALL_CANCELLED", "the run has ended");
}
