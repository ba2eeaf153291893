import { isDeepStrictEqual } from "node:util";
import { isInitializeRequest } from "@modelcontextprotocol/server";

import type { Caller } from "../../../model/caller.ts";
import { findSurplus } from "../../../shared/lru.ts";
import type { ConnectedClient, GatewayContext } from "./client-session.ts";
import { isRequest } from "./open-requests.ts";
import { type Exchange, refusal, McpSession } from "./session.ts";

export interface SessionOptions {
  /**
   * Maximum number of sessions. At the limit, a new one replaces the longest idle one of the caller that has the most, or of its own; if
   * none is idle, one of another caller that has more than half.
   */
  readonly most: number;
  /** Idle milliseconds after which a session ends. */
  readonly idleMs: number;
}

/** The sessions of the protocol's versions before 2026. */
export interface Sessions {
  answer(exchange: Exchange, mcpClient: ConnectedClient): Promise<Response>;
  /** Answers a regular tool call in a session of the caller; `undefined` for any other request. */
  answerCall(exchange: Exchange, caller: Caller): Promise<Response> | undefined;
  /** Begins a session with an id that its client has, and reads its first messages; their answers are left out. */
  restore(id: string, messages: readonly unknown[], mcpClient: ConnectedClient): Promise<void>;
  /** Notifies the client of a session that its list of tools has changed. */
  announceTools(id: string): void;
  readonly size: number;
  close(): Promise<void>;
}

export function createSessions(shared: GatewayContext, { most, idleMs }: SessionOptions): Sessions {
  const sessions = new Map<string, McpSession>();
  const sweeper = setInterval(() => sweep(), Math.min(idleMs, 60_000)).unref();

  function sweep(): void {
    for (const session of sessions.values()) if (session.idleForMs() > idleMs) end(session);
  }

  function end(session: McpSession): void {
    sessions.delete(session.id);
    void session.close("the session has ended").catch(() => {}); // its connections may be lost
  }

  /**
   * Ends a session if the limit is reached: an idle one, else one of another caller that has more than half of all. Returns false if
   * none may go.
   */
  function makePlace({ id }: Caller): boolean {
    if (sessions.size < most) return true;
    const getOwner = (session: McpSession): string => session.mcpClient.caller.id;
    const idlest = [...sessions.values()].toSorted((a, b) => b.idleForMs() - a.idleForMs());
    const surplus = findSurplus(idlest, getOwner);
    const candidates = [surplus, idlest.find((session) => getOwner(session) === id)];
    const idle = candidates.find((session) => session !== undefined && session.idleForMs() > 0);
    const oldest = idle ?? (surplus && getOwner(surplus) !== id && hasMoreThanHalf(surplus) ? surplus : undefined);
    if (oldest !== undefined) end(oldest);
    return oldest !== undefined;
  }

  function hasMoreThanHalf({ mcpClient: { caller } }: McpSession): boolean {
    return [...sessions.values()].filter(({ mcpClient }) => mcpClient.caller.id === caller.id).length > most / 2;
  }

  async function begin(mcpClient: ConnectedClient, id?: string): Promise<McpSession | undefined> {
    if (!makePlace(mcpClient.caller)) return undefined;
    const session = new McpSession(shared, mcpClient, { id, onEnd: () => sessions.delete(session.id) });
    sessions.set(session.id, session);
    await session.connect();
    return session;
  }

  /** Finds the session of a request; a session of another caller, or of one with other rights, counts as not found. */
  function findSession({ request }: Exchange, caller: Caller): McpSession | undefined {
    const session = sessions.get(request.headers.get("mcp-session-id") ?? "");
    return session !== undefined && isDeepStrictEqual(session.mcpClient.caller, caller) ? session : undefined;
  }

  return {
    answerCall: (exchange, caller) => findSession(exchange, caller)?.answerCall(exchange),
    async answer(exchange, mcpClient) {
      if (exchange.request.headers.has("mcp-session-id"))
        return (
          findSession(exchange, mcpClient.caller)?.answer(exchange) ?? refusal(404, "Session not found", exchange.body)
        );
      if (exchange.request.method !== "POST" || !hasInitialize(exchange.body))
        return refusal(400, describeMissingSession(exchange.body), exchange.body);
      const session = await begin(mcpClient);
      return (
        session?.answer(exchange) ??
        refusal(503, `Session limit exceeded: all ${most} sessions are in use`, exchange.body)
      );
    },
    async restore(id, messages, mcpClient) {
      const session = await begin(mcpClient, id);
      if (session !== undefined && !(await readAgain(session, messages))) end(session);
    },
    announceTools: (id) => sessions.get(id)?.announceTools(),
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

/** Reads messages that were answered before; false if the session does not accept one. */
async function readAgain(session: McpSession, messages: readonly unknown[]): Promise<boolean> {
  try {
    for (const message of messages) {
      const response = await session.answer(createExchange(session.id, message));
      await response.text();
      if (!response.ok) return false;
    }
    return true;
  } catch {
    return false; // the validation of a deep message throws
  }
}

/** Creates the request of a message that was answered before. */
function createExchange(sessionId: string, body: unknown): Exchange {
  const session = hasInitialize(body) ? undefined : { "mcp-session-id": sessionId };
  const headers = { "content-type": "application/json", accept: "application/json, text/event-stream", ...session };
  return {
    request: new Request("http://localhost/mcp", { method: "POST", headers }),
    body,
    onEnd: (listener) => setImmediate(listener, true),
    respond: (json, status, extra) => new Response(json, { status, headers: extra }),
  };
}

function hasInitialize(body: unknown): boolean {
  return [body].flat().some((message) => isInitializeRequest(message));
}

function describeMissingSession(body: unknown): string {
  return isRequest(body) && body.method === "initialize"
    ? "Cannot start a session: the params of initialize must have protocolVersion, capabilities and clientInfo"
    : "The request has no session. Send initialize first, then its Mcp-Session-Id with each request";
}
