import type { JSONRPCMessage, MessageExtraInfo, Transport, TransportSendOptions } from "@modelcontextprotocol/client";

import { getMessage } from "../../../errors.ts";
import { isRecord } from "../../../model/json.ts";
import type { CallingClients } from "./calling-clients.ts";
import { waitAtMost } from "../../../shared/run-with-timeout.ts";
import { MAX_BATCH } from "../stdio/messages.ts";
import { STREAM_ENDED } from "./wire-errors.ts";
import { numbersToMarks, restoreNumbers, roundBigInts } from "../../../shared/json/exact-json.ts";

/** The key of a stand-in that holds the original result. */
const RAW = "skillgate/raw";

/** Methods whose results bypass the SDK's validation: it would reject a whole list for one bad item. */
const UNJUDGED: ReadonlySet<unknown> = new Set([
  "tools/list",
  "tools/call",
  "resources/list",
  "resources/templates/list",
  "resources/read",
  "prompts/list",
  "prompts/get",
  "tasks/get",
  "tasks/result",
  "tasks/update",
  "tasks/cancel",
]);

/** A result that passes the SDK's validation for each of these methods, in every version of the protocol. */
const STAND_IN = {
  resultType: "complete",
  ttlMs: 0,
  cacheScope: "private",
  tools: [],
  content: [],
  resources: [],
  resourceTemplates: [],
  contents: [],
  prompts: [],
  messages: [],
};

/** Requests of a server that wait for their answers at once; each may hold a connection of its own. More are not answered. */
const MAX_QUESTIONS = 100;

/** How long the cancellation of a request may take to send; then its connection is closed. */
const CANCELLED_MS = 1_000;

interface OpenRequest {
  /** The id that was sent. */
  readonly id: unknown;
  readonly method: unknown;
  readonly connection: AbortController;
}

/** Returns the original result of a stand-in. */
export function rawResult(result: unknown): unknown {
  return isRecord(result) && Object.hasOwn(result, RAW) ? result[RAW] : result;
}

/**
 * Wraps a transport and tolerates malformed messages of servers. It corrects the id and the shape of responses, reports
 * responses without an open request (a second answer, one after a cancellation, one with an unknown id) to `onStray`,
 * and passes results around the SDK's schemas. `clients` sets the capabilities of requests.
 */
export class TolerantTransport implements Transport {
  onmessage?: Transport["onmessage"];
  onclose?: Transport["onclose"];
  onerror?: Transport["onerror"];
  readonly #inner: Transport;
  readonly #clients: CallingClients;
  readonly #onStray: (message: string) => void;
  /** Requests under way, by their id as text. */
  readonly #pending = new Map<string, OpenRequest>();
  /** Requests of the server, by their id as JSON, and whether their answer is being sent. */
  readonly #questions = new Map<string, "waits" | "is sent">();

  constructor(inner: Transport, clients: CallingClients, onStray: (message: string) => void) {
    this.#inner = inner;
    this.#clients = clients;
    this.#onStray = onStray;
  }

  get sessionId(): string | undefined {
    return this.#inner.sessionId;
  }

  get hasPerRequestStream(): boolean {
    return this.#inner.hasPerRequestStream === true;
  }

  setProtocolVersion(version: string): void {
    this.#inner.setProtocolVersion?.(version);
  }

  setSupportedProtocolVersions(versions: string[]): void {
    this.#inner.setSupportedProtocolVersions?.(versions);
  }

  async start(): Promise<void> {
    this.#inner.onmessage = (message, extra) => this.#receive(message, extra);
    this.#inner.onerror = (error) => this.onerror?.(error);
    this.#inner.onclose = () => queueMicrotask(() => this.onclose?.());
    await this.#inner.start();
  }

  async send(original: JSONRPCMessage, options?: TransportSendOptions): Promise<void> {
    const message = numbersToMarks(this.#clients.toOutgoing(original));
    const cancelled = this.#cancelledBy(message);
    const requestSignal = this.#remember(message, options?.requestSignal);
    const onRequestStreamEnd = options?.onRequestStreamEnd ?? (() => this.#abandon(message));
    const sent = this.#inner.send(message, { ...options, ...(requestSignal && { requestSignal }), onRequestStreamEnd });
    if (!("method" in message)) return this.#answer(JSON.stringify(message.id), sent);
    if (cancelled !== undefined)
      void waitAtMost(
        CANCELLED_MS,
        sent.catch(() => {}),
      ).then(() => cancelled.connection.abort());
    await sent;
  }

  async close(): Promise<void> {
    this.#pending.clear();
    await this.#inner.close();
  }

  /** Returns the signal that closes the connection on which a request is answered. */
  #remember(message: JSONRPCMessage, signal: AbortSignal | undefined): AbortSignal | undefined {
    if (!("method" in message && "id" in message)) return signal;
    const key = String(message.id);
    const connection = new AbortController();
    this.#pending.set(key, { id: message.id, method: message.method, connection });
    signal?.addEventListener("abort", () => this.#pending.delete(key), { once: true });
    return signal ?? connection.signal;
  }

  #cancelledBy(message: JSONRPCMessage): OpenRequest | undefined {
    if (!("method" in message) || message.method !== "notifications/cancelled") return undefined;
    const key = String(message.params?.["requestId"]);
    const request = this.#pending.get(key);
    this.#pending.delete(key);
    return request;
  }

  /** Fails a request whose response stream ended without an answer. */
  #abandon(message: JSONRPCMessage): void {
    if (!("id" in message) || !this.#pending.has(String(message.id))) return;
    const error = { code: STREAM_ENDED, message: "ended the connection before it answered" };
    this.#receiveOne({ id: message.id, error });
  }

  async #answer(key: string, sent: Promise<void>): Promise<void> {
    this.#questions.set(key, "is sent");
    await sent.finally(() => this.#questions.delete(key));
  }

  /** Notes a request of the server, and its cancellation. Returns why it is not answered. */
  #findExcess({ id, method, params }: Readonly<Record<string, unknown>>): string | undefined {
    if (method === "notifications/cancelled" && isRecord(params)) {
      const key = JSON.stringify(params["requestId"]);
      if (this.#questions.get(key) === "waits") this.#questions.delete(key);
    }
    if (id === undefined) return undefined;
    const key = JSON.stringify(id);
    if (this.#questions.has(key)) return "a request with the id of one that is not answered yet";
    if (this.#questions.size >= MAX_QUESTIONS) return `more than ${MAX_QUESTIONS} requests at once`;
    this.#questions.set(key, "waits");
    return undefined;
  }

  #receive(message: unknown, extra?: MessageExtraInfo): void {
    if (!Array.isArray(message)) return this.#receiveOne(message, extra);
    for (const one of message.slice(0, MAX_BATCH)) this.#receiveOne(one, extra);
    if (message.length > MAX_BATCH)
      this.#onStray(`a batch of ${message.length} messages, of which ${MAX_BATCH} are read`);
  }

  #receiveOne(message: unknown, extra?: MessageExtraInfo): void {
    if (!isRecord(message)) return this.#onStray("a message that is not an object");
    const hasMarks = restoreNumbers(message);
    if (typeof message["method"] === "string") {
      if (hasMarks) roundBigInts(message, findLogData(message));
      const excess = this.#findExcess(message);
      if (excess !== undefined) return this.#onStray(excess);
      return this.#pass({ ...message, jsonrpc: "2.0" }, extra);
    }
    const request = this.#take(message);
    if (request === undefined) return this.#onStray("a response that matches no open request");
    const outcome = toOutcome(message, request.method);
    const numbered = isRecord(outcome["result"])
      ? { result: this.#clients.toIncoming(request.id, outcome["result"]) }
      : outcome;
    const response = { jsonrpc: "2.0", id: request.id, ...numbered };
    // The SDK handles notifications in a microtask: those before the response must be handled before it.
    queueMicrotask(() => this.#pass(response, extra));
  }

  /** Returns the request that a response answers. An error without an id answers the only open request. */
  #take(response: Readonly<Record<string, unknown>>): OpenRequest | undefined {
    const key = response["id"] == null && response["error"] != null ? this.#onlyCall() : String(response["id"]);
    const request = key === undefined ? undefined : this.#pending.get(key);
    if (key !== undefined) this.#pending.delete(key);
    return request;
  }

  #onlyCall(): string | undefined {
    const calls = [...this.#pending].filter(([, { method }]) => method !== "subscriptions/listen");
    return calls.length === 1 ? calls[0]?.[0] : undefined;
  }

  /** Passes a message to the SDK, which validates its content. */
  #pass(message: Readonly<Record<string, unknown>>, extra?: MessageExtraInfo): void {
    try {
      this.onmessage?.(message as JSONRPCMessage, extra);
    } catch (thrown) {
      this.#onStray(`a message that cannot be read: ${getMessage(thrown)}`);
    }
  }
}

/** The data of a log message, which clients get as the server sent it; every other member is for the SDK. */
function findLogData({ method, params }: Readonly<Record<string, unknown>>): unknown {
  return method === "notifications/message" && isRecord(params) ? params["data"] : undefined;
}

function toOutcome(response: Readonly<Record<string, unknown>>, method: unknown): Readonly<Record<string, unknown>> {
  if (response["error"] != null) return { error: toJsonRpcError(response["error"]) };
  const result = response["result"];
  // A request for input must reach the SDK unchanged: the SDK answers it for the client.
  if (isRecord(result) && result["resultType"] === "input_required") return { result };
  if (UNJUDGED.has(method)) return { result: { ...STAND_IN, [RAW]: result } };
  return isRecord(result) ? { result } : { error: toJsonRpcError("the result is not an object") };
}

function toJsonRpcError(error: unknown): { readonly code: number; readonly message: string; readonly data?: unknown } {
  const { code, message, data } = isRecord(error) ? error : { code: undefined, message: error, data: undefined };
  return {
    code: Number.isSafeInteger(code) ? Number(code) : -32_603,
    message: typeof message === "string" ? message : (JSON.stringify(message) ?? "the server gives no reason"),
    ...(data !== undefined && { data }),
  };
}
