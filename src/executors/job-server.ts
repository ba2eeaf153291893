import { parseJson, isRecord } from "../model/json.ts";
import type { IncomingRequest } from "../network/index.ts";
import type { Fronts } from "./front-calls.ts";
import { parseJob } from "./protocol.ts";
import { type JobRuntime, RunningJob } from "./running-job.ts";
import type { ExecutorSettings } from "./settings.ts";

/** The part of a runtime that executes runs. */
export interface ExecutingRuntime extends JobRuntime {
  readonly runs: JobRuntime["runs"] & {
    cancel(id: string): Promise<void>;
    /** Continues no more runs, and resolves when each run of this process has ended or waits for a person. */
    settle(): Promise<void>;
  };
  /** Lets fronts make the calls of methods with accounts. */
  useFronts(fronts: Fronts): void;
  on(event: "catalog", listener: () => void): () => void;
}

export interface JobServerOptions {
  readonly settings: Pick<ExecutorSettings, "concurrency">;
  readonly runtime: ExecutingRuntime;
  /** Returns the token of the version that this executor has now. */
  readonly getToken: () => string;
}

/** The jobs of one executor. */
export class JobServer {
  readonly #options: JobServerOptions;
  readonly #jobs = new Set<RunningJob>();
  readonly #waiters = new Set<() => void>();
  isTaking = true;

  constructor(options: JobServerOptions) {
    this.#options = options;
  }

  get size(): number {
    return this.#jobs.size;
  }

  /** Executes a job, or ends a run that this process executes for another reason. */
  async answer(request: IncomingRequest): Promise<void> {
    if (request.method === "job") return this.#execute(request);
    if (request.method !== "cancelRun")
      return request.send("refusal", `it does not know the request ${request.method}`);
    await this.#options.runtime.runs.cancel(request.text);
    await request.send("result", "{}");
  }

  /** Resolves when each job has ended, or waits for a person. */
  settle(): Promise<void> {
    return this.#waitUntil(() => [...this.#jobs].every((job) => job.isWaiting));
  }

  /** Cancels the jobs, except those that wait for a person: their runs continue without a front. */
  cancelAll(why: string): void {
    for (const job of this.#jobs) if (!job.isWaiting) job.cancel(why);
  }

  /** Leaves the runs that wait for a person to others: their fronts get a message when they end here. */
  leaveWaiting(): void {
    for (const job of this.#jobs) if (job.isWaiting) job.leave();
  }

  /** Resolves when all jobs have ended, and their ends are sent. */
  whenEmpty(): Promise<void> {
    return this.#waitUntil(() => this.#jobs.size === 0);
  }

  async #execute(request: IncomingRequest): Promise<void> {
    const { settings, runtime, getToken } = this.#options;
    const body = parseJson(request.text);
    const { token, job: text } = isRecord(body) ? body : {};
    const job = parseJob(text);
    if (job === undefined) return request.send("refusal", "it cannot read the run");
    if (!this.isTaking || this.#jobs.size >= settings.concurrency) return request.send("refusal", "it is busy");
    if (token !== getToken()) return request.send("refusal", "it has another version");
    const running = new RunningJob({ request, job, runtime, onWait: () => this.#callWaiters() });
    this.#jobs.add(running);
    try {
      await running.execute();
    } finally {
      this.#jobs.delete(running);
      this.#callWaiters();
    }
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
