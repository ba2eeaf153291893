import { randomUUID } from "node:crypto";
import {
  isJSONRPCRequest,
  type JSONRPCMessage,
  type MessageExtraInfo,
  type RequestId,
  type Server,
  WebStandardStreamableHTTPServerTransport,
} from "@modelcontextprotocol/server";

import { RESUME_MS, SessionCalls } from "../fast-path/http.ts";
import { createGateway } from "../gateway.ts";
import type { ConnectedClient, GatewayContext } from "./client-session.ts";
import {
  cancelledAnswer,
  cancelledBy,
  type Cause,
  createOpenRequests,
  isRequest,
  type OpenRequests,
  createTakenAnswer,
} from "./open-requests.ts";
import { describeClient, followLists, sendListChanged } from "./follow-lists.ts";
import { CONNECTION_GONE } from "./lost-client.ts";
import { errorAnswer } from "../rpc-error.ts";
import { SentEvents } from "./sent-events.ts";

/** An HTTP request to the endpoint, with its parsed body. */
export interface Exchange {
  readonly request: Request;
  /** Parsed JSON; `undefined` if there was no body. */
  readonly body: unknown;
  /** Calls the listener when the response is sent or the connection is lost. */
  readonly onEnd: (listener: (wasSent: boolean) => void) => void;
  /** Creates a response from serialized JSON. */
  readonly respond: (json: string, status: number, headers: Readonly<Record<string, string>>) => Response;
}

interface McpSessionOptions {
  /** The id of a session that was begun before; a new one by default. */
  readonly id: string | undefined;
  readonly onEnd: () => void;
}

/** One session of a protocol version before 2026, over any number of connections. */
export class McpSession {
  readonly id: string;
  readonly mcpClient: ConnectedClient;
  readonly #server: Server;
  readonly #transport: WebStandardStreamableHTTPServerTransport;
  readonly #calls: SessionCalls;
  readonly #sent = new SentEvents();
  /** Requests that the SDK answers. */
  readonly #pending = createOpenRequests();
  /** Ids of requests that the SDK has not accepted yet. */
  readonly #entering = new Set<RequestId>();
  /** Timers that cancel requests whose connection is lost. */
  readonly #lost = new Map<RequestId, NodeJS.Timeout>();
  readonly #unfollowLists: () => void;
  /** Ends the watch of the key of the client. */
  readonly #unfollow: (() => void) | undefined;
  /** Number of open streams for messages that belong to no request. */
  #streams = 0;
  /** True if the change of the tools is to be announced on the next stream. */
  #isAnnouncementDue = false;
  #open = 0;
  #lastUsed = performance.now();
  #sendAnswer: (answer: JSONRPCMessage) => Promise<void> = async () => {};

  constructor(
    shared: GatewayContext,
    { requestValues: _ofFirstRequest, ...mcpClient }: ConnectedClient,
    { id = randomUUID(), onEnd }: McpSessionOptions,
  ) {
    this.id = id;
    const logLevel = { level: undefined };
    this.mcpClient = { ...mcpClient, conversation: this.id };
    this.#server = createGateway(shared, this.mcpClient, logLevel);
    this.#unfollowLists = followLists(shared, describeClient(this.#server, this.mcpClient), (list) =>
      sendListChanged(this.#server, list),
    );
    this.#calls = new SessionCalls(
      shared,
      this.mcpClient,
      { server: this.#server, logLevel },
      { id, sent: this.#sent },
    );
    this.#transport = new WebStandardStreamableHTTPServerTransport({
      sessionIdGenerator: () => this.id,
      onsessionclosed: () => {
        onEnd();
        return this.#release("the session has ended");
      },
      maxRequestBodySize: Number.MAX_SAFE_INTEGER, // it receives bodies that are already read and checked
      eventStore: this.#sent.asEventStore(),
    });
    this.#unfollow = mcpClient.life?.onEnd((why) => {
      onEnd();
      this.close(why).catch(() => {}); // its connections may be lost
    });
    // A priming event has no message, and some clients take it for the answer.
    Object.assign(this.#transport, { writePrimingEvent: async () => {} });
  }

  async connect(): Promise<void> {
    await this.#server.connect(this.#transport);
    this.#sendAnswer = answerCancelled(this.#transport, this.#calls, this.#pending);
  }

  answerCall(exchange: Exchange): Promise<Response> | undefined {
    if (this.#takenId(exchange.body) !== undefined) return undefined; // answer() rejects it
    const answer = this.#calls.answer(exchange);
    if (answer !== undefined) this.#trackUse(exchange, () => {});
    return answer;
  }

  async answer(exchange: Exchange): Promise<Response> {
    const { request, body } = exchange;
    const reusedId = this.#takenId(body);
    if (reusedId !== undefined) return Response.json(createTakenAnswer(reusedId), { status: 400 });
    const lastEventId = request.method === "GET" ? request.headers.get("last-event-id") : null;
    if (lastEventId !== null && this.#sent.since(lastEventId) === undefined) return refusal(400, EVENTS_DROPPED, body);
    const ids = requestIds(body);
    this.#trackUse(exchange, (wasSent) => {
      if (!wasSent && request.method === "POST") this.#lose(ids);
    });
    const resumed = lastEventId === null ? undefined : this.#calls.resume(lastEventId, exchange);
    if (resumed !== undefined) return resumed;
    for (const id of ids) this.#enter(id);
    try {
      const response = await this.#transport.handleRequest(request, body === undefined ? {} : { parsedBody: body });
      if (request.method === "GET" && response.ok) this.#openStream(exchange);
      return response;
    } finally {
      for (const id of ids) this.#entering.delete(id);
    }
  }

  /** Notifies the client that its list of tools has changed, as soon as it has a stream for that. */
  announceTools(): void {
    this.#isAnnouncementDue = this.#streams === 0;
    if (!this.#isAnnouncementDue) this.#server.sendToolListChanged().catch(() => {}); // the client has gone
  }

  #openStream({ onEnd }: Exchange): void {
    this.#streams++;
    onEnd(() => this.#streams--);
    if (this.#isAnnouncementDue) this.announceTools();
  }

  #trackUse({ onEnd }: Exchange, then: (wasSent: boolean) => void): void {
    this.#open++;
    onEnd((wasSent) => {
      this.#open--;
      this.#lastUsed = performance.now();
      then(wasSent);
    });
  }

  /** Returns the idle time; 0 while a request or a stream is open. */
  idleForMs(): number {
    return this.#open > 0 ? 0 : performance.now() - this.#lastUsed;
  }

  async close(cause: Cause): Promise<void> {
    await this.#release(cause);
    await this.#server.close();
  }

  /** Ends all work, and answers the requests that are open: their clients would wait for ever. */
  async #release(cause: Cause): Promise<void> {
    this.#unfollow?.();
    this.#unfollowLists();
    this.#calls.close(cause);
    for (const timer of this.#lost.values()) clearTimeout(timer);
    const answers = this.#pending.giveUp().map((id) => this.#sendAnswer(cancelledAnswer(id, cause)));
    await Promise.allSettled(answers); // a connection may be lost
    this.#sent.close();
  }

  /** Returns the first id in a body that is already in use: its answers would be ambiguous. */
  #takenId(body: unknown): RequestId | undefined {
    const ids = requestIds(body);
    const isTaken = (id: RequestId): boolean =>
      this.#calls.isUnderWay(id) || this.#pending.has(id) || this.#entering.has(id);
    return ids.find((id, at) => isTaken(id) || ids.indexOf(id) < at);
  }

  #enter(id: RequestId): void {
    this.#entering.add(id);
    clearTimeout(this.#lost.get(id)); // the timer of an earlier request
    this.#lost.delete(id);
  }

  /** Cancels requests unless the client resumes in time. */
  #lose(ids: readonly RequestId[]): void {
    for (const id of ids) {
      if (!this.#pending.has(id)) continue;
      const timer = setTimeout(() => this.#cancel(id), RESUME_MS);
      this.#lost.set(id, timer);
    }
  }

  #cancel(requestId: RequestId): void {
    this.#lost.delete(requestId);
    const params = { requestId, reason: CONNECTION_GONE };
    this.#transport.onmessage?.({ jsonrpc: "2.0", method: "notifications/cancelled", params });
  }
}

const EVENTS_DROPPED =
  "Cannot resume after the event in Last-Event-ID: later events are no longer stored. Send the request again";

function requestIds(body: unknown): readonly RequestId[] {
  return [body].flat().flatMap((message) => (isRequest(message) ? [message.id] : []));
}

/** Answers a request that no session accepts. */
export function refusal(status: number, reason: string, body: unknown): Response {
  const id = isJSONRPCRequest(body) ? body.id : undefined;
  const suggestions = status === 404 ? ["Send initialize for a new session; the old one has ended or expired"] : [];
  return Response.json(errorAnswer("InvalidRequest", reason, id, suggestions), {
    status,
    ...(status === 503 && { headers: { "retry-after": "5" } }),
  });
}

/**
 * Answers cancelled requests, and sends requests to the client that belong to a call on the stream of the call. Returns the function
 * that sends the answer to a request that was given up.
 */
function answerCancelled(
  transport: WebStandardStreamableHTTPServerTransport,
  calls: SessionCalls,
  pending: OpenRequests,
): (answer: JSONRPCMessage) => Promise<void> {
  const deliver = transport.onmessage?.bind(transport);
  const send = transport.send.bind(transport);
  transport.onmessage = (message: JSONRPCMessage, extra?: MessageExtraInfo) => {
    const answer = pending.received(message);
    const cancelled = cancelledBy(message);
    if (cancelled !== undefined) calls.cancel(cancelled);
    deliver?.(message, extra);
    if (answer !== undefined) void send(answer).catch(() => {}); // the connection is lost
  };
  transport.send = async (message, options) => {
    const listener = options?.relatedRequestId === undefined ? undefined : calls.listenerTo(options.relatedRequestId);
    if (listener !== undefined) listener.say(message);
    else if (pending.sent(message)) await send(message, options);
  };
  return (answer) => send(answer);
}
