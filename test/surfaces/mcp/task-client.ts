import { setTimeout as wait } from "node:timers/promises";

import { Client, StreamableHTTPClientTransport } from "@modelcontextprotocol/client";
import { StdioClientTransport } from "@modelcontextprotocol/client/stdio";
import { onTestFinished } from "vitest";
import { z } from "zod";

import { BIN, environment } from "../cli/command.ts";

/** The longest time between two polls of a task, so that a test need not wait as long as a server asks for. */
const MAX_POLL_MS = 50;

export const TASKS_EXTENSION = "io.modelcontextprotocol/tasks";

const TASK = z.looseObject({
  taskId: z.string(),
  status: z.enum(["working", "input_required", "completed", "failed", "cancelled"]),
  createdAt: z.iso.datetime(),
  lastUpdatedAt: z.iso.datetime(),
  ttlMs: z.int().positive().nullable(),
  pollIntervalMs: z.int().positive(),
  statusMessage: z.string().optional(),
  inputRequests: z.record(z.string(), z.looseObject({ method: z.string(), params: z.looseObject({}) })).optional(),
  result: z.looseObject({}).optional(),
  error: z.looseObject({ code: z.int(), message: z.string() }).optional(),
});

export type Task = z.infer<typeof TASK>;

/** A client of the SDK that declares the tasks extension. */
export interface TaskClient {
  readonly client: Client;
  /** The process of a server over stdio. */
  readonly pid: number;
  /** Calls a tool. Resolves to the result, or to the task. */
  call(name: string, args?: Readonly<Record<string, unknown>>): Promise<Readonly<Record<string, unknown>>>;
  get(taskId: string): Promise<Task>;
  update(taskId: string, inputResponses: Readonly<Record<string, unknown>>): Promise<unknown>;
  cancel(taskId: string): Promise<unknown>;
  /** Polls a task until it satisfies a condition. */
  waitUntil(taskId: string, isReached: (task: Task) => boolean): Promise<Task>;
}

type Transport = Parameters<Client["connect"]>[0];

interface TaskClientOptions {
  readonly headers?: Record<string, string>;
  /** True for a client that asks its user. */
  readonly canAsk?: boolean;
}

export function connectHttp(url: string, { headers = {}, canAsk }: TaskClientOptions = {}): Promise<TaskClient> {
  return connect(new StreamableHTTPClientTransport(new URL("/mcp", url), { requestInit: { headers } }), canAsk);
}

/** Starts `skillgate serve --stdio` in a folder. */
export async function connectStdio(cwd: string, { canAsk }: TaskClientOptions = {}): Promise<TaskClient> {
  const transport = new StdioClientTransport({
    command: process.execPath,
    args: [BIN, "serve", "--stdio"],
    cwd,
    env: environment(cwd) as Record<string, string>,
    stderr: "ignore",
  });
  const connected = await connect(transport, canAsk);
  return { ...connected, pid: transport.pid ?? 0 };
}

async function connect(transport: Transport, canAsk = true): Promise<TaskClient> {
  const capabilities = { ...(canAsk && { elicitation: { form: {} } }), extensions: { [TASKS_EXTENSION]: {} } };
  const client = new Client({ name: "tasks", version: "1" }, { capabilities, versionNegotiation: { mode: "auto" } });
  await client.connect(transport);
  onTestFinished(() => client.close());
  passTasksOn(transport);
  const get: TaskClient["get"] = (taskId) => client.request({ method: "tasks/get", params: { taskId } }, TASK);
  return {
    client,
    pid: 0,
    get,
    async call(name, args = {}) {
      const { structuredContent, ...result } = await client.callTool({ name, arguments: args });
      const task = (structuredContent as { readonly [TASK_KEY]?: Readonly<Record<string, unknown>> } | undefined)?.[
        TASK_KEY
      ];
      return task ?? { ...result, ...(structuredContent !== undefined && { structuredContent }) };
    },
    update: (taskId, inputResponses) =>
      client.request({ method: "tasks/update", params: { taskId, inputResponses } }, z.strictObject(ACK)),
    cancel: (taskId) => client.request({ method: "tasks/cancel", params: { taskId } }, z.strictObject(ACK)),
    async waitUntil(taskId, isReached) {
      for (;;) {
        const task = await get(taskId);
        if (isReached(task)) return task;
        await wait(Math.min(task.pollIntervalMs, MAX_POLL_MS));
      }
    },
  };
}

const ACK = { _meta: z.looseObject({}).optional() };

const TASK_KEY = "test/task";

/** The client of the SDK rejects results that are tasks: passes them on as structured content. */
function passTasksOn(transport: Transport): void {
  const receive = transport.onmessage?.bind(transport);
  transport.onmessage = (message, extra) => {
    const result = "result" in message ? message.result : undefined;
    if (result?.["resultType"] !== "task") return receive?.(message, extra);
    const passed = { resultType: "complete", content: [], structuredContent: { [TASK_KEY]: result } };
    receive?.({ ...message, result: passed } as typeof message, extra);
  };
}
