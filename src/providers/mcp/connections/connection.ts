import { LIST_NAMES, type ListName } from "../../../model/mcp-features.ts";
import type { LogLevel, RequestContext } from "../../../model/skill.ts";
import { toLogLevel } from "../../../shared/log-levels.ts";
import {
  Client,
  type Implementation,
  LOG_LEVEL_META_KEY,
  type PriorDiscovery,
  type Progress,
  SSEClientTransport,
  SseError,
  StreamableHTTPClientTransport,
  type Tool,
  type Transport,
} from "@modelcontextprotocol/client";

import type { Client as CallerClient } from "../../../model/client-requests.ts";
import { findSizeExcess } from "../../../shared/values/value-size.ts";
import { isRecord } from "../../../model/json.ts";
import { stringifyExactly } from "../../../shared/json/exact-json.ts";
import { truncateText } from "../../../shared/format-text.ts";
import { mayUseHeaders } from "../http/parameter-headers.ts";
import { type ProcessReport, StdioClientTransport } from "../stdio/transport.ts";
import { waitAtMost } from "../../../shared/run-with-timeout.ts";
import { type ConnectionFacts, traceRequest } from "./trace-request.ts";
import { ANYTHING, ResourceSubscriptions } from "./resource-subscriptions.ts";
import { awaitTask, findEarlierTask, findTask } from "./await-task.ts";
import {
  ALL_CAPABILITIES,
  ALL_REQUESTS,
  type AnswerInputs,
  CallingClients,
  type AnnouncedExtensions,
} from "./calling-clients.ts";
import { rawResult, TolerantTransport } from "./tolerant-transport.ts";

/** The longest delay of a timer: only its signal ends a request. */
const NO_TIMEOUT_MS = 2 ** 31 - 1;

/** How long to wait for the answer to the newest protocol before the older one is used. */
const PROBE_MS = 5_000;

/** The first version of the modern protocol. */
const MODERN_VERSION = "2026-07-28";

/** How long to wait before a lost subscription is renewed. */
const RESUBSCRIBE_MS = 5_000;

/** How long a server over HTTP may take to end its session. */
const TERMINATE_MS = 1_000;

/** A server that has answered the handshake. Results come as the server sent them. */
export interface Connection {
  readonly protocolVersion: string;
  /** The server's name and version. */
  readonly server: Partial<Implementation>;
  /** The capabilities that it announces. */
  readonly capabilities: Readonly<Record<string, unknown>>;
  readonly instructions: string;
  /** Which of the two protocols the server speaks; the next connection skips the negotiation. */
  readonly era: PriorDiscovery;
  /** It has a session, which can expire on the server. */
  readonly hasSession: boolean;
  /** Settles when the connection is lost or closed. */
  readonly closed: Promise<void>;
  /** True if each request has capabilities of its own, so that callers can share the connection. */
  readonly isStateless: boolean;
  request: ServerRequests["request"];
  /** Sends the requests of one call. Since 2026-07-28, the server can ask its client, and no other. */
  requestDuring<Result>(context: RequestContext, send: (requests: ServerRequests) => Promise<Result>): Promise<Result>;
  /** The report on the server's process; `undefined` for a remote server. */
  report(): ProcessReport | undefined;
  close(): Promise<void>;
}

/** The requests that a server answers. */
export interface ServerRequests {
  request(method: string, params: Readonly<Record<string, unknown>>, signal: AbortSignal): Promise<unknown>;
  callTool(call: McpToolCall): Promise<unknown>;
  /** Watches a resource until the signal aborts or the connection is lost. */
  watch: ResourceSubscriptions["watch"];
}

export interface McpToolCall {
  readonly name: string;
  readonly input: Readonly<Record<string, unknown>>;
  readonly inputSchema: Readonly<Record<string, unknown>>;
  readonly signal: AbortSignal;
  readonly onProgress: (progress: Progress) => void;
  /** The server runs the tool only as a task. */
  readonly requiresTask: boolean;
  /** Keeps the id of the task that the call waits for; `earlier` is the one of an earlier process. */
  readonly task?:
    | { readonly earlier: string | undefined; readonly keep: (taskId: string) => Promise<void> }
    | undefined;
  /** Sent in `_meta`; the same for each repetition of the call. */
  readonly idempotencyKey?: string;
}

export interface HandshakeOptions {
  readonly clientInfo: Implementation;
  /** The URL of a remote server; absent for a process. */
  readonly url?: URL | undefined;
  /** The result of an earlier negotiation; without it, the newest protocol is tried first. */
  readonly era: PriorDiscovery | undefined;
  /** Rejects if the server does not support the newest protocol. */
  readonly requiresModern?: boolean;
  readonly signal: AbortSignal;
  readonly timeoutMs: number;
  readonly onListChanged: (list: ListName) => void;
  /** Answers requests of the server; without it, every request is refused at once. */
  readonly client: CallerClient | undefined;
  /** AnnouncedExtensions that are announced to the server. */
  readonly extensions?: AnnouncedExtensions;
  /** Receives log messages of the server. */
  readonly onLog: RequestContext["log"];
  readonly log: (level: LogLevel, text: string) => void;
}

/** Performs the handshake on a transport that is not started yet. If it fails, closes the transport and rejects. */
export async function handshake(inner: Transport, options: HandshakeOptions): Promise<Connection> {
  const clients = new CallingClients(options.client, options.extensions);
  const transport = new TolerantTransport(inner, clients, (stray) => options.log("debug", stray));
  // By these two properties the SDK detects a local process: there, silence means an older protocol, not an outage.
  if (inner instanceof StdioClientTransport) Object.assign(transport, { pid: null, stderr: null });
  const { timeoutMs } = options;
  // A server over HTTP answers unknown methods as well; a silent one is only slow.
  const probe = {
    timeoutMs: inner instanceof StdioClientTransport ? Math.min(PROBE_MS, timeoutMs / 3) : timeoutMs / 2,
  };
  const client = new Client(options.clientInfo, {
    versionNegotiation: { mode: options.requiresModern ? { pin: MODERN_VERSION } : "auto", probe },
    capabilities: ALL_CAPABILITIES,
  });
  const closed = new Promise<void>((resolve) => {
    client.onclose = resolve;
  });
  client.onerror = (error) => options.log("debug", error.message);
  listenTo(client, options);
  answerWith(client, clients);
  try {
    const connecting = client.connect(transport, {
      timeout: options.timeoutMs,
      ...(options.era && { prior: options.era }),
    });
    await Promise.race([connecting, rejectsWhenAborted(options.signal)]);
  } catch (thrown) {
    await transport.close();
    throw thrown;
  }
  // The event stream reopens by itself, but the server does not recognize the client on it.
  if (inner instanceof SSEClientTransport)
    inner.onerror = (error) => void (error instanceof SseError && client.close());
  void keepSubscribed(client, closed);
  return createConnection(client, { inner, closed, url: options.url, clients });
}

/** The SDK validates both sides: a malformed request or answer is an error. */
function answerWith(client: Client, clients: CallingClients): void {
  for (const question of ALL_REQUESTS) {
    client.setRequestHandler(question, async (request: { readonly params?: object | undefined }, { mcpReq }) => {
      const isModern = client.getProtocolEra() === "modern";
      const answer = await clients.ask(question, { ...request.params }, String(mcpReq.id), isModern);
      return answer as never;
    });
  }
}

function listenTo(client: Client, { onListChanged, onLog }: HandshakeOptions): void {
  for (const list of LIST_NAMES)
    client.setNotificationHandler(`notifications/${list}/list_changed`, { params: ANYTHING }, () =>
      onListChanged(list),
    );
  client.setNotificationHandler("notifications/message", { params: ANYTHING }, (params) => {
    const { level, logger, data } = isRecord(params) ? params : {};
    const isBounded = findSizeExcess(data) === undefined;
    const text = isBounded ? formatData(data) : "(a message that is nested too deeply, or too large)";
    const name = typeof logger === "string" ? { logger: truncateText(logger, LOGGER_UNITS) } : {};
    onLog(toLogLevel(level), text, { level, ...name, data: isBounded ? data : text });
  });
}

function formatData(data: unknown): string {
  if (data === undefined) return "";
  return typeof data === "string" ? data : stringifyExactly(data);
}

/** Characters of the name of a logger. */
const LOGGER_UNITS = 200;

function rejectsWhenAborted(signal: AbortSignal): Promise<never> {
  return new Promise((_, reject) => {
    const onAbort = (): void => reject(signal.reason as Error);
    if (signal.aborted) onAbort();
    else signal.addEventListener("abort", onAbort, { once: true });
  });
}

/** Since 2026-07-28, a server reports changes only to subscribers. */
async function keepSubscribed(client: Client, closed: Promise<void>): Promise<void> {
  const { tools, resources, prompts } = client.getServerCapabilities() ?? {};
  const filter = {
    ...(tools?.listChanged === true && { toolsListChanged: true }),
    ...(resources?.listChanged === true && { resourcesListChanged: true }),
    ...(prompts?.listChanged === true && { promptsListChanged: true }),
  };
  if (client.getProtocolEra() !== "modern" || Object.keys(filter).length === 0) return;
  while (client.transport !== undefined) {
    const subscription = await client.listen(filter).catch(() => undefined); // a server may refuse
    if (subscription === undefined || (await subscription.closed) !== "remote") return;
    await waitAtMost(RESUBSCRIBE_MS, closed);
  }
}

/** The member of `_meta` with the key by which a server recognizes a call that it has already made. */
const IDEMPOTENCY_KEY = "skillgate/idempotency-key";

/** Since 2026-07-28, a server logs only for requests that ask for it. */
const WITH_LOG = { [LOG_LEVEL_META_KEY]: "info" } as const;

interface OpenTransport {
  readonly inner: Transport;
  readonly closed: Promise<void>;
  readonly url: URL | undefined;
  readonly clients: CallingClients;
}

function createConnection(client: Client, { inner, closed, url, clients }: OpenTransport): Connection {
  const facts: ConnectionFacts = { protocolVersion: client.getNegotiatedProtocolVersion() ?? "", url };
  const discover = client.getDiscoverResult();
  const subscriptions = new ResourceSubscriptions(client, closed);
  const createRequests = (fields: MetaFields, answer: AnswerInputs): ServerRequests => ({
    ...createSentRequests(client, facts, { fields, answer }),
    watch: (uri, options) => subscriptions.watch(uri, options),
  });
  return {
    protocolVersion: facts.protocolVersion,
    server: client.getServerVersion() ?? {},
    capabilities: client.getServerCapabilities() ?? {},
    instructions: client.getInstructions() ?? "",
    era: discover === undefined ? { kind: "legacy" } : { kind: "modern", discover },
    get hasSession() {
      return inner.sessionId !== undefined;
    },
    closed,
    isStateless: discover !== undefined,
    request: (method, params, signal) => createRequests({}, refuseInputs).request(method, params, signal),
    requestDuring: (context, send) =>
      clients.trackDuring(context, (meta, answer) =>
        send(createRequests({ ...context.requestValues?.getMeta(), ...meta }, answer)),
      ),
    report: () => (inner instanceof StdioClientTransport ? inner.report() : undefined),
    async close() {
      if (inner instanceof StreamableHTTPClientTransport) {
        await waitAtMost(
          TERMINATE_MS,
          inner.terminateSession().catch(() => {}),
        ); // the session expires later by itself
      }
      await client.close();
      // After a crash the SDK has released the transport, but child processes may remain.
      if (inner instanceof StdioClientTransport) await inner.close();
    },
  };
}

/** A request outside of a call has no client that answers. */
function refuseInputs(): Promise<never> {
  return Promise.reject(new Error("no call is in flight"));
}

/** Creates the requests that have the given fields in `_meta`. */
function createSentRequests(
  client: Client,
  facts: ConnectionFacts,
  { fields, answer }: { readonly fields: MetaFields; readonly answer: AnswerInputs },
): Omit<ServerRequests, "watch"> {
  const isModern = client.getDiscoverResult() !== undefined;
  const request: ServerRequests["request"] = (method, params, signal) =>
    traceRequest({ method, params }, facts, async (traceFields) => {
      const sent = { method, params: withMeta(params, { ...fields, ...traceFields }) };
      return rawResult(await client.request(sent, ANYTHING, { signal, timeout: NO_TIMEOUT_MS }));
    });
  return {
    request,
    async callTool({ name, input, inputSchema, signal, onProgress, idempotencyKey, requiresTask, task }) {
      const isTask = requiresTask && !isModern && runsTasks(client.getServerCapabilities());
      const keep = (taskId: string): Promise<void> | undefined => task?.keep(taskId);
      const waiting = { request, signal, onProgress, answer, keep, asksForResult: isTask };
      if (task?.earlier !== undefined) return findEarlierTask(task.earlier, waiting);
      const meta = {
        ...fields,
        ...(isModern && WITH_LOG),
        ...(idempotencyKey !== undefined && { [IDEMPOTENCY_KEY]: idempotencyKey }),
      };
      const options = { signal, onprogress: onProgress, timeout: NO_TIMEOUT_MS };
      const sending = traceRequest({ method: "tools/call", params: { name } }, facts, async (traceFields) => {
        const fields = { name, arguments: input, ...(isTask && { task: {} }) };
        const params = withMeta(fields, { ...meta, ...traceFields });
        if (!mayUseHeaders(inputSchema))
          return rawResult(await client.request({ method: "tools/call", params }, ANYTHING, options));
        // With the tool definition, the SDK sends the headers that the tool requires.
        const toolDefinition = { name, inputSchema } as Tool;
        return rawResult(await client.callTool(params, { ...options, toolDefinition }));
      });
      const result = await sending;
      const created = findTask(result, isTask);
      return created === undefined ? result : awaitTask(created, waiting);
    },
  };
}

/** True for a server that runs tools as the tasks of 2025-11-25. */
function runsTasks(capabilities: unknown): boolean {
  return isRecord(capabilities) && isRecord(capabilities["tasks"]) && isRecord(capabilities["tasks"]["requests"]);
}

type MetaFields = Readonly<Record<string, unknown>>;

function withMeta<Params extends object>(params: Params, meta: MetaFields): Params {
  return Object.keys(meta).length === 0 ? params : { ...params, _meta: meta };
}
