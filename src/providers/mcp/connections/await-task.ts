import { setTimeout as sleep } from "node:timers/promises";

import { ProtocolError, SdkHttpError } from "@modelcontextprotocol/client";

import { isRecord } from "../../../model/json.ts";
import { truncateText } from "../../../shared/format-text.ts";

/** Milliseconds between two questions for the state of a task: if the server asks for none, and the limits of what it asks for. */
const DEFAULT_POLL_MS = 1_000;
const MIN_POLL_MS = 100;
const MAX_POLL_MS = 10_000;

/** The longest id of a task, the longest text about a state, and the most requests for input of one task. */
const MAX_ID_UNITS = 1_024;
const MAX_MESSAGE_UNITS = 1_000;
const MAX_INPUTS = 100;

/** How long the request to cancel a task may take. */
const CANCEL_MS = 5_000;

type TaskMembers = Readonly<Record<string, unknown>>;

/** How a task is awaited: the requests to its server, and the answers and the progress of its call. */
export interface TaskCall {
  readonly request: (method: string, params: TaskMembers, signal: AbortSignal) => Promise<unknown>;
  /** The result of a task has a request of its own: so it was before 2026-07-28. */
  readonly asksForResult: boolean;
  readonly signal: AbortSignal;
  /** Records the id of the task; the wait begins when that is done. */
  readonly keep: (taskId: string) => Promise<void> | undefined;
  readonly onProgress: (progress: { readonly progress: number; readonly message: string }) => void;
  /** Answers the requests for input of the extension of 2026, by their keys. */
  readonly answer: (requests: TaskMembers) => Promise<TaskMembers>;
}

/** Returns the task that a server has created in place of a result; `undefined` for a result. */
export function findTask(result: unknown, wantsTask: boolean): TaskMembers | undefined {
  if (!isRecord(result)) return undefined;
  if (result["resultType"] === "task") return result;
  return wantsTask && isRecord(result["task"]) ? result["task"] : undefined;
}

/** Waits for a task and returns its result. If the call ends before the task, the task is cancelled. */
export async function awaitTask(first: TaskMembers, call: TaskCall): Promise<unknown> {
  const { taskId } = first;
  if (typeof taskId !== "string" || taskId === "" || taskId.length > MAX_ID_UNITS)
    throw new Error(`the server created a task whose taskId is not a text of 1 to ${MAX_ID_UNITS} characters`);
  let end: TaskEnd | undefined;
  try {
    await call.keep(taskId);
    end = await pollTask(taskId, first, call);
  } catch (thrown) {
    // Such an error would otherwise mean that the call was not made.
    if (thrown instanceof SdkHttpError)
      throw new Error(`the task has begun, and the server says no more of it (HTTP ${thrown.status})`, {
        cause: thrown,
      });
    throw thrown;
  } finally {
    // The server stops the work when it can; nothing waits for that.
    if (end === undefined)
      void call.request("tasks/cancel", { taskId }, AbortSignal.timeout(CANCEL_MS)).catch(() => {});
  }
  if ("error" in end) throw end.error;
  return end.result;
}

/** Waits for a task that an earlier process has waited for; rejects if its server does not know it. */
export async function findEarlierTask(taskId: string, call: TaskCall): Promise<unknown> {
  const state = parseState(taskId, await call.request("tasks/get", { taskId }, call.signal));
  return awaitTask({ ...state, taskId }, call);
}

/** How a task has ended. */
type TaskEnd = { readonly result: unknown } | { readonly error: Error };

async function pollTask(taskId: string, first: TaskMembers, call: TaskCall): Promise<TaskEnd> {
  const { request, signal } = call;
  const answered = new Set<string>();
  let progress = 0;
  let lastMessage: unknown;
  let state = first;
  for (;;) {
    const { status, statusMessage } = state;
    if (typeof statusMessage === "string" && statusMessage !== lastMessage) {
      lastMessage = statusMessage;
      call.onProgress({ progress: ++progress, message: truncateText(statusMessage, MAX_MESSAGE_UNITS) });
    }
    if (status === "input_required") await answerInputs(taskId, state, { call, answered });
    const end = await findEnd(taskId, state, call);
    if (end !== undefined) return end;
    await sleep(getPollMs(state), undefined, { signal }).catch(() => signal.throwIfAborted());
    state = parseState(taskId, await request("tasks/get", { taskId }, signal));
  }
}

function parseState(taskId: string, state: unknown): TaskMembers {
  if (!isRecord(state) || (state["taskId"] !== undefined && state["taskId"] !== taskId))
    throw new Error(`the server answered for another task than ${JSON.stringify(truncateText(taskId, 100))}`);
  return state;
}

/** The server chooses the interval, within limits. Before 2026-07-28, its name has no unit. */
function getPollMs({ pollIntervalMs, pollInterval = pollIntervalMs }: TaskMembers): number {
  const interval = typeof pollInterval === "number" && pollInterval > 0 ? pollInterval : DEFAULT_POLL_MS;
  return Math.min(Math.max(interval, MIN_POLL_MS), MAX_POLL_MS);
}

async function findEnd(taskId: string, state: TaskMembers, call: TaskCall): Promise<TaskEnd | undefined> {
  const { status, statusMessage, error, result } = state;
  if (status === "working") return undefined;
  if (status === "cancelled") return { error: new Error("the server has cancelled the task") };
  // While this request is open, the server also sends its requests for input.
  if (call.asksForResult && ASKED_FOR.has(status))
    return { result: await call.request("tasks/result", { taskId }, call.signal) };
  switch (status) {
    case "input_required":
      return undefined;
    case "completed":
      if (!isRecord(result)) throw new Error("the server has completed the task without a result");
      return { result };
    case "failed":
      return { error: toError(error, statusMessage) };
    default:
      throw new Error(
        `the server says of the task that it is ${truncateText(JSON.stringify(status) ?? "undefined", 100)}`,
      );
  }
}

const ASKED_FOR: ReadonlySet<unknown> = new Set(["input_required", "completed", "failed"]);

function toError(error: unknown, statusMessage: unknown): Error {
  const { code, message = statusMessage, data } = isRecord(error) ? error : {};
  const text = typeof message === "string" ? message : "the task has failed";
  return Number.isSafeInteger(code) ? new ProtocolError(Number(code), text, data) : new Error(text);
}

/** Answers the requests for input that are new; a server keeps those in its list that it has not received the answers of. */
async function answerInputs(
  taskId: string,
  { inputRequests }: TaskMembers,
  { call, answered }: { readonly call: TaskCall; readonly answered: Set<string> },
): Promise<void> {
  if (!isRecord(inputRequests)) return;
  const added = Object.entries(inputRequests).filter(([key]) => !answered.has(key));
  if (added.length === 0) return;
  if (answered.size + added.length > MAX_INPUTS) throw new Error(`a task may ask for ${MAX_INPUTS} inputs`);
  for (const [key] of added) answered.add(key);
  const inputResponses = await call.answer(Object.fromEntries(added));
  await call.request("tasks/update", { taskId, inputResponses }, call.signal);
}
