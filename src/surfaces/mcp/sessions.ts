import { randomUUID } from "node:crypto";
import {
  isInitializeRequest,
  isJSONRPCRequest,
  type JSONRPCMessage,
  type MessageExtraInfo,
  type RequestId,
  type Server,
  WebStandardStreamableHTTPServerTransport,
} from "@modelcontextprotocol/server";

import type { Caller } from "../../model/caller.ts";
import { errorAnswer } from "./rpc-error.ts";
import { type Cause, cancelledBy, createPending, isRequest, type Pending, takenAnswer } from "./pending.ts";
import { SessionCalls } from "./direct-http.ts";
import { createGateway } from "./gateway.ts";
import type { Peer, Shared } from "./peer.ts";

export interface SessionOptions {
  /** At most so many at once; the one that was idle for longest makes place. */
  readonly most: number;
  /** A session that nobody uses for so long ends. */
  readonly idleMs: number;
}

/** One HTTP request at the endpoint, its body read. */
export interface Exchange {
  readonly request: Request;
  /** Parsed JSON; `undefined` if there was no body. */
  readonly body: unknown;
  /** Calls back when the response was sent, or the connection is gone. */
  readonly onEnd: (listener: (wasSent: boolean) => void) => void;
  /** A response that is JSON already. */
  readonly respond: (json: string, status: number, headers: Readonly<Record<string, string>>) => Response;
}

/** The sessions of the protocol's versions before 2026. */
export interface Sessions {
  answer(exchange: Exchange, peer: Peer): Promise<Response>;
  /** Answers a plain call of a tool in a session of the caller; `undefined` for any other request. */
  answerCall(exchange: Exchange, caller: Caller): Promise<Response> | undefined;
  /** Tells every client that what it may have listed has changed. */
  changed(): void;
  readonly size: number;
  close(): Promise<void>;
}

export function createSessions(shared: Shared, { most, idleMs }: SessionOptions): Sessions {
  const sessions = new Map<string, Session>();
  const sweeper = setInterval(() => sweep(), Math.min(idleMs, 60_000)).unref();

  function sweep(): void {
    for (const session of sessions.values()) if (session.idleForMs() > idleMs) end(session);
  }

  function end(session: Session): void {
    sessions.delete(session.id);
    void session.close("the session has ended");
  }

  /** False where everything is in use. */
  function makePlace(): boolean {
    if (sessions.size < most) return true;
    const idle = [...sessions.values()].filter((session) => session.idleForMs() > 0);
    const oldest = idle.toSorted((a, b) => b.idleForMs() - a.idleForMs())[0];
    if (oldest !== undefined) end(oldest);
    return oldest !== undefined;
  }

  async function begin(peer: Peer): Promise<Session | undefined> {
    if (!makePlace()) return undefined;
    const session = new Session(shared, peer, () => sessions.delete(session.id));
    sessions.set(session.id, session);
    await session.connect();
    return session;
  }

  /** Another caller's session is none. */
  function sessionOf({ request }: Exchange, caller: Caller): Session | undefined {
    const session = sessions.get(request.headers.get("mcp-session-id") ?? "");
    return session?.peer.caller.id === caller.id ? session : undefined;
  }

  return {
    answerCall: (exchange, caller) => sessionOf(exchange, caller)?.answerCall(exchange),
    async answer(exchange, peer) {
      if (exchange.request.headers.has("mcp-session-id"))
        return sessionOf(exchange, peer.caller)?.answer(exchange) ?? refusal(404, "Session not found", exchange.body);
      if (exchange.request.method !== "POST" || !hasInitialize(exchange.body))
        return refusal(400, whyHomeless(exchange.body), exchange.body);
      const session = await begin(peer);
      return (
        session?.answer(exchange) ?? refusal(503, `Cannot open another session: ${most} are in use`, exchange.body)
      );
    },
    changed() {
      for (const session of sessions.values()) session.changed();
    },
    get size() {
      return sessions.size;
    },
    async close() {
      clearInterval(sweeper);
      const open = [...sessions.values()];
      sessions.clear();
      await Promise.all(open.map((session) => session.close("the server ends")));
    },
  };
}

function hasInitialize(body: unknown): boolean {
  return [body].flat().some((message) => isInitializeRequest(message));
}

function whyHomeless(body: unknown): string {
  return isRequest(body) && body.method === "initialize"
    ? "Cannot begin a session: the params of initialize must have protocolVersion, capabilities and clientInfo"
    : "Cannot answer without a session: send initialize first, then its Mcp-Session-Id with each request";
}

function refusal(status: number, reason: string, body: unknown): Response {
  const id = isJSONRPCRequest(body) ? body.id : undefined;
  const suggestions = status === 404 ? ["Send initialize for a new session; the old one has ended or expired"] : [];
  return Response.json(errorAnswer("InvalidRequest", reason, id, suggestions), {
    status,
    ...(status === 503 && { headers: { "retry-after": "5" } }),
  });
}

function requestIds(body: unknown): readonly RequestId[] {
  return [body].flat().flatMap((message) => (isRequest(message) ? [message.id] : []));
}

class Session {
  readonly id = randomUUID();
  readonly peer: Peer;
  readonly #server: Server;
  readonly #transport: WebStandardStreamableHTTPServerTransport;
  readonly #calls: SessionCalls;
  /** Requests that the protocol's own code answers. */
  readonly #pending = createPending();
  /** Those of requests that the protocol's own code still looks at. */
  readonly #entering = new Set<RequestId>();
  #open = 0;
  #lastUsed = performance.now();

  constructor(shared: Shared, peer: Peer, onEnd: () => void) {
    const ears = { level: undefined };
    this.peer = { ...peer, conversation: this.id };
    this.#server = createGateway(shared, this.peer, ears);
    this.#calls = new SessionCalls(shared, this.peer, { server: this.#server, ears }, this.id);
    this.#transport = new WebStandardStreamableHTTPServerTransport({
      sessionIdGenerator: () => this.id,
      onsessionclosed: () => {
        onEnd();
        this.#calls.close("the session has ended");
      },
      maxRequestBodySize: Number.MAX_SAFE_INTEGER, // it gets bodies that were read already
    });
  }

  async connect(): Promise<void> {
    await this.#server.connect(this.#transport);
    answerCancelled(this.#transport, this.#calls, this.#pending);
  }

  answerCall(exchange: Exchange): Promise<Response> | undefined {
    if (this.#takenId(exchange.body) !== undefined) return undefined; // the long way says so
    const answer = this.#calls.answer(exchange);
    if (answer !== undefined) this.#isUsedBy(exchange, () => {});
    return answer;
  }

  async answer(exchange: Exchange): Promise<Response> {
    const { request, body } = exchange;
    const taken = this.#takenId(body);
    if (taken !== undefined) return Response.json(takenAnswer(taken), { status: 400 });
    this.#isUsedBy(exchange, (wasSent) => {
      if (!wasSent && request.method === "POST") this.#cancel(body);
    });
    const ids = requestIds(body);
    for (const id of ids) this.#entering.add(id);
    try {
      return await this.#transport.handleRequest(request, body === undefined ? {} : { parsedBody: body });
    } finally {
      for (const id of ids) this.#entering.delete(id);
    }
  }

  #isUsedBy({ onEnd }: Exchange, then: (wasSent: boolean) => void): void {
    this.#open++;
    onEnd((wasSent) => {
      this.#open--;
      this.#lastUsed = performance.now();
      then(wasSent);
    });
  }

  changed(): void {
    for (const told of [
      this.#server.sendToolListChanged(),
      this.#server.sendResourceListChanged(),
      this.#server.sendPromptListChanged(),
    ])
      told.catch(() => {}); // it is not initialized yet, or closing
  }

  /** 0 while a request or a stream is open. */
  idleForMs(): number {
    return this.#open > 0 ? 0 : performance.now() - this.#lastUsed;
  }

  async close(cause: Cause): Promise<void> {
    this.#calls.close(cause);
    await this.#server.close();
  }

  /** The first id of a request that another one has: whose an answer is could not be told any more. */
  #takenId(body: unknown): RequestId | undefined {
    const ids = requestIds(body);
    const isTaken = (id: RequestId): boolean =>
      this.#calls.isUnderWay(id) || this.#pending.has(id) || this.#entering.has(id);
    return ids.find((id, at) => isTaken(id) || ids.indexOf(id) < at);
  }

  /** Nobody can get the answers of a connection that is gone, so what they need is stopped. */
  #cancel(body: unknown): void {
    for (const message of [body].flat()) {
      if (!isJSONRPCRequest(message)) continue;
      const params = { requestId: message.id, reason: "the connection is gone" };
      this.#transport.onmessage?.({ jsonrpc: "2.0", method: "notifications/cancelled", params });
    }
  }
}

/** Ends the stream of a request that is cancelled, and asks on that of a call what is asked for its sake. */
function answerCancelled(
  transport: WebStandardStreamableHTTPServerTransport,
  calls: SessionCalls,
  pending: Pending,
): void {
  const deliver = transport.onmessage?.bind(transport);
  const send = transport.send.bind(transport);
  transport.onmessage = (message: JSONRPCMessage, extra?: MessageExtraInfo) => {
    const answer = pending.received(message);
    const cancelled = cancelledBy(message);
    if (cancelled !== undefined) calls.cancel(cancelled);
    deliver?.(message, extra);
    if (answer !== undefined) void send(answer).catch(() => {}); // its connection is gone
  };
  transport.send = async (message, options) => {
    const listener = options?.relatedRequestId === undefined ? undefined : calls.listenerTo(options.relatedRequestId);
    if (listener !== undefined) listener.say(message);
    else if (pending.sent(message)) await send(message, options);
  };
}
