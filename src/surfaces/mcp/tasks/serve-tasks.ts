import {
  CLIENT_CAPABILITIES_META_KEY,
  type JSONRPCMessage,
  ProtocolError,
  ProtocolErrorCode,
  type Server,
  type ServerContext,
  type StandardSchemaV1,
  type Transport,
} from "@modelcontextprotocol/server";

import { isRecord } from "../../../model/json.ts";
import { truncateText } from "../../../shared/format-text.ts";
import { canAnswer } from "../sessions/client-answers.ts";
import type { ConnectedClient, GatewayContext } from "../sessions/client-session.ts";
import { createTasksRequiredError, declaresTasks, type Task } from "./extension.ts";
import { answerRecordedTask, cancelRecordedTask, readRecordedTask } from "./recorded-tasks.ts";

/** Serves the methods of the tasks extension to a client of the 2026 protocol. */
export function serveTasks(server: Server, { runtime, tasks }: GatewayContext, { caller }: ConnectedClient): void {
  const view = runtime.viewFor(caller);
  async function read(id: string, capabilities: unknown): Promise<Task> {
    const liveTask = tasks.find(id, caller.id);
    const live = liveTask?.read();
    if (live !== undefined && (live.status !== "working" || liveTask?.isRun !== true)) return live;
    const recorded = await readRecordedTask(view, id, canAnswer(capabilities));
    const task = recorded !== undefined && live !== undefined ? mergeTasks(recorded, live) : (recorded ?? live);
    if (task === undefined) throw createUnknownError(id);
    return task;
  }

  server.setRequestHandler("tasks/get", { params: PARAMS }, async ({ taskId }, context) => ({
    ...(await read(taskId, requireTasks(context))),
  }));
  server.setRequestHandler("tasks/update", { params: PARAMS }, async ({ taskId }, context) => {
    requireTasks(context);
    const inputResponses = requireResponses(context);
    const live = tasks.find(taskId, caller.id);
    live?.answer(inputResponses);
    const isKnown = live !== undefined && !live.isRun;
    if (!isKnown && !(await answerRecordedTask(view, taskId, inputResponses)) && live === undefined)
      throw createUnknownError(taskId);
    return {};
  });
  server.setRequestHandler("tasks/cancel", { params: PARAMS }, async ({ taskId }, context) => {
    requireTasks(context);
    const live = tasks.find(taskId, caller.id);
    live?.cancel();
    const isKnown = live !== undefined && !live.isRun;
    if (!isKnown && !(await cancelRecordedTask(view, taskId)) && live === undefined) throw createUnknownError(taskId);
    return {};
  });
}

/** The store says what a run waits for; this process knows its progress. */
function mergeTasks(recorded: Task, live: Task): Task {
  const { ttlMs, statusMessage: progress } = live;
  const hasProgress = recorded.status === "working" && recorded.statusMessage === undefined && progress !== undefined;
  return { ...recorded, ttlMs, ...(hasProgress && { statusMessage: progress }) };
}

/** Returns the capabilities that the client declares in a request. Throws if they lack the extension. */
function requireTasks({ mcpReq }: ServerContext): unknown {
  const envelope: Readonly<Record<string, unknown>> = mcpReq.envelope ?? {};
  const capabilities = envelope[CLIENT_CAPABILITIES_META_KEY];
  if (!declaresTasks(capabilities)) throw createTasksRequiredError();
  return capabilities;
}

/** The same error for a task that does not exist and for one of another caller. */
function createUnknownError(id: string): ProtocolError {
  const shortId = truncateText(JSON.stringify(id), 100);
  return new ProtocolError(
    ProtocolErrorCode.InvalidParams,
    `Unknown task: ${shortId}. It does not exist, has expired, or belongs to another caller`,
  );
}

/** The SDK adds an empty content to a result of `tools/call` that has none. A task has no content. */
export function withoutTaskContent(transport: Transport): void {
  const send = transport.send.bind(transport);
  transport.send = (message, options) => send(removeTaskContent(message), options);
}

function removeTaskContent(message: JSONRPCMessage): JSONRPCMessage {
  if (!("result" in message) || message.result["resultType"] !== "task") return message;
  const { content: _content, ...result } = message.result;
  return { ...message, result };
}

interface TaskParams {
  readonly taskId: string;
}

/** The params of all methods; the SDK has taken `inputResponses` out. */
const PARAMS: StandardSchemaV1<unknown, TaskParams> = {
  "~standard": {
    version: 1,
    vendor: "skillgate",
    validate: (params) => {
      const taskId = isRecord(params) ? params["taskId"] : undefined;
      return typeof taskId === "string" ? { value: { taskId } } : { issues: [{ message: "taskId must be a text" }] };
    },
  },
};

function requireResponses({ mcpReq: { inputResponses } }: ServerContext): Readonly<Record<string, unknown>> {
  if (isRecord(inputResponses)) return inputResponses;
  throw new ProtocolError(
    ProtocolErrorCode.InvalidParams,
    "Invalid params for tasks/update: inputResponses must be an object",
  );
}
