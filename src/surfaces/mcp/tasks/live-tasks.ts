import { ProtocolError, ProtocolErrorCode } from "@modelcontextprotocol/server";

import { findSurplus } from "../../../shared/lru.ts";
import { createLostReason } from "../sessions/lost-client.ts";
import type { MultiTurnRequest, WorkEnd } from "../sessions/multi-turn-request.ts";
import { type CreateTaskResult, formatTask, type Task, type TaskState } from "./extension.ts";

/** Milliseconds for which a task can be read after its last change. A question without an answer is given up then. */
const TASK_TTL_MS = 3_600_000;

/**
 * Maximum number of tasks; beyond it, of those that have ended, the first one of the caller that has the most is deleted. If none has
 * ended, requests do not become tasks.
 */
const MAX_TASKS = 1_000;

/** The tasks of this process. A caller sees its own; others do not exist for it. */
export interface LiveTasks {
  /** Adds work that continues without its request. Work of the same caller and id is the same task. */
  add(id: string, request: MultiTurnRequest): CreateTaskResult;
  find(id: string, caller: string): LiveTask | undefined;
  /** False if there are too many tasks that have not ended. */
  readonly hasPlace: boolean;
  /** Cancels all tasks. */
  close(): void;
}

export function createLiveTasks(ttlMs = TASK_TTL_MS): LiveTasks {
  const tasks = new Map<string, LiveTask>();
  const getKey = (id: string, caller: string): string => JSON.stringify([caller, id]);

  function makePlace(): void {
    if (tasks.size < MAX_TASKS) return;
    const endedTasks = [...tasks].filter(([, task]) => task.hasEnded).toSorted(([, a], [, b]) => a.updated - b.updated);
    const oldest = findSurplus(endedTasks, ([, { caller }]) => caller);
    if (oldest === undefined) return;
    oldest[1].close();
    tasks.delete(oldest[0]);
  }

  function addTask(id: string, request: MultiTurnRequest): LiveTask {
    const key = getKey(id, request.caller);
    const earlier = tasks.get(key);
    if (earlier !== undefined && !earlier.hasEnded) {
      request.abort(createLostReason("the run is a task already"));
      return earlier;
    }
    earlier?.close();
    makePlace();
    const task = new LiveTask(id, request, { ttlMs, onExpire: () => void tasks.delete(key) });
    tasks.set(key, task);
    // The store has the further states of a recorded run.
    void request.ended.then(() => {
      if (!request.isUnfinished) return;
      task.close();
      if (tasks.get(key) === task) tasks.delete(key);
    });
    return task;
  }

  return {
    add(id, request) {
      const { taskId, createdAt, lastUpdatedAt, ttlMs, pollIntervalMs } = addTask(id, request).read();
      return { resultType: "task", taskId, status: "working", createdAt, lastUpdatedAt, ttlMs, pollIntervalMs };
    },
    find: (id, caller) => tasks.get(getKey(id, caller)),
    get hasPlace() {
      return tasks.size < MAX_TASKS || [...tasks.values()].some(({ hasEnded }) => hasEnded);
    },
    close() {
      for (const task of tasks.values()) task.close(createLostReason("the server ends"));
      tasks.clear();
    },
  };
}

/** Work that continues after its request was answered. */
export class LiveTask {
  readonly #id: string;
  readonly #request: MultiTurnRequest;
  readonly #ttlMs: number;
  readonly #created = Date.now();
  readonly #timer: NodeJS.Timeout;
  #updated = Date.now();
  #isCancelled = false;

  constructor(
    id: string,
    request: MultiTurnRequest,
    { ttlMs, onExpire }: { readonly ttlMs: number; readonly onExpire: () => void },
  ) {
    this.#id = id;
    this.#request = request;
    this.#ttlMs = ttlMs;
    this.#timer = setTimeout(() => this.#expire(onExpire), ttlMs).unref();
    request.detach(() => this.#touch());
    void request.ended.then(() => this.#touch());
  }

  get hasEnded(): boolean {
    return this.#request.end !== undefined;
  }

  /** The id of the caller. */
  get caller(): string {
    return this.#request.caller;
  }

  /** True for a run, of which the store may have a record. */
  get isRun(): boolean {
    return this.#request.isRun;
  }

  /** When the task has changed last, in milliseconds since 1970. */
  get updated(): number {
    return this.#updated;
  }

  read(): Task {
    const state = this.#getState();
    const { end, progress } = this.#request;
    const message = end === undefined ? progress : state.status === "cancelled" ? getText(end) : undefined;
    const ttlMs = this.#updated - this.#created + this.#ttlMs;
    return formatTask({ id: this.#id, created: this.#created, updated: this.#updated, ttlMs, message }, state);
  }

  /** Answers open questions of the task. */
  answer(responses: Readonly<Record<string, unknown>>): void {
    if (!this.#request.hasQuestions) return;
    this.#request.answer(responses);
    this.#touch();
  }

  /** Cancels the task for its client. */
  cancel(): void {
    if (this.hasEnded) return;
    this.#isCancelled = true;
    this.#request.abort();
  }

  /** Ends the life of the task. The work is cancelled if there is a reason. */
  close(reason?: Error): void {
    clearTimeout(this.#timer);
    if (reason !== undefined) this.#request.abort(reason);
  }

  #getState(): TaskState {
    const { end, hasQuestions, questions } = this.#request;
    if (end === undefined)
      return hasQuestions ? { status: "input_required", inputRequests: questions } : { status: "working" };
    if (this.#isCancelled && isFailure(end)) return { status: "cancelled" };
    if ("result" in end) return { status: "completed", result: end.result };
    if (!(end.error instanceof ProtocolError))
      return { status: "failed", error: { code: ProtocolErrorCode.InternalError, message: "Internal server error" } };
    const { code, message, data } = end.error;
    return { status: "failed", error: { code, message, ...(data !== undefined && { data }) } };
  }

  #touch(): void {
    this.#updated = Date.now();
    this.#timer.refresh();
  }

  #expire(onExpire: () => void): void {
    if (this.hasEnded) return onExpire();
    if (this.#request.hasQuestions) {
      this.#isCancelled = true;
      this.#request.abort(createLostReason("the client did not answer"));
    }
    this.#touch();
  }
}

function isFailure(end: WorkEnd): boolean {
  return "error" in end || ("isError" in end.result && end.result.isError === true);
}

/** Returns the first text of a result. */
function getText(end: WorkEnd): string | undefined {
  if ("error" in end || !("content" in end.result) || !Array.isArray(end.result.content)) return;
  const [first] = end.result.content as readonly { readonly text?: unknown }[];
  return typeof first?.text === "string" ? first.text : undefined;
}
