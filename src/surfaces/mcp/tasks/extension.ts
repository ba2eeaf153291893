import { MissingRequiredClientCapabilityError } from "@modelcontextprotocol/server";

import { isRecord } from "../../../model/json.ts";
import { TASKS_EXTENSION } from "../opening/protocol.ts";
import type { Questions, RequestResult } from "../sessions/multi-turn-request.ts";

/** Facts about a task, as they are sent. */
interface TaskFacts {
  readonly taskId: string;
  /** RFC 3339 in UTC. */
  readonly createdAt: string;
  readonly lastUpdatedAt: string;
  /** Milliseconds since `createdAt` for which the task can be read; `null` for a task that is in the store. */
  readonly ttlMs: number | null;
  readonly pollIntervalMs: number;
  readonly statusMessage?: string;
}

/** The state of a task. A tool that failed has completed, with a result that says so. */
export type TaskState =
  | { readonly status: "working" }
  | { readonly status: "input_required"; readonly inputRequests: Questions }
  | { readonly status: "completed"; readonly result: RequestResult }
  | { readonly status: "failed"; readonly error: TaskError }
  | { readonly status: "cancelled" };

/** A JSON-RPC error. */
export interface TaskError {
  readonly code: number;
  readonly message: string;
  readonly data?: unknown;
}

/** A task as `tasks/get` returns it. */
export type Task = TaskFacts & TaskState;

/** The answer to a request that became a task. */
export type CreateTaskResult = TaskFacts & {
  readonly resultType: "task";
  readonly status: TaskState["status"];
  readonly _meta?: Readonly<Record<string, unknown>>;
};

/** The milliseconds between two polls that clients are asked to keep. */
const POLL_INTERVAL_MS = 500;

/** Maximum UTF-16 units of the text about a state. */
const MAX_MESSAGE_UNITS = 1_000;

/** Times are in milliseconds since 1970. */
export function formatTask({ id, created, updated, ttlMs, message = "" }: TaskFields, state: TaskState): Task {
  return {
    taskId: id,
    createdAt: new Date(created).toISOString(),
    lastUpdatedAt: new Date(updated).toISOString(),
    ttlMs,
    pollIntervalMs: POLL_INTERVAL_MS,
    ...(message !== "" && { statusMessage: message.slice(0, MAX_MESSAGE_UNITS) }),
    ...state,
  };
}

interface TaskFields {
  readonly id: string;
  readonly created: number;
  readonly updated: number;
  readonly ttlMs: number | null;
  readonly message?: string | undefined;
}

/** Tests the capabilities that a client declares in a request. */
export function declaresTasks(capabilities: unknown): boolean {
  const extensions = isRecord(capabilities) ? capabilities["extensions"] : undefined;
  return isRecord(extensions) && isRecord(extensions[TASKS_EXTENSION]);
}

/** Creates the error for a client that must declare the extension. */
export function createTasksRequiredError(): MissingRequiredClientCapabilityError {
  return new MissingRequiredClientCapabilityError({ requiredCapabilities: { extensions: { [TASKS_EXTENSION]: {} } } });
}
