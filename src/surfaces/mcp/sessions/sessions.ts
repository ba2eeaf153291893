import { isInitializeRequest } from "@modelcontextprotocol/server";

import type { Caller } from "../../../model/caller.ts";
import type { ConnectedClient, GatewayContext } from "./client-session.ts";
import { isRequest } from "./open-requests.ts";
import { type Exchange, refusal, McpSession } from "./session.ts";

export interface SessionOptions {
  /** At most so many at once; the one that was idle for longest makes place. */
  readonly most: number;
  /** A session that nobody uses for so long ends. */
  readonly idleMs: number;
}

/** The sessions of the protocol's versions before 2026. */
export interface Sessions {
  answer(exchange: Exchange, peer: ConnectedClient): Promise<Response>;
  /** Answers a plain call of a tool in a session of the caller; `undefined` for any other request. */
  answerCall(exchange: Exchange, caller: Caller): Promise<Response> | undefined;
  /** Tells every client that what it may have listed has changed. */
  changed(): void;
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
    void session.close("the session has ended").catch(() => {}); // its connections are gone
  }

  /** False where everything is in use. */
  function makePlace(): boolean {
    if (sessions.size < most) return true;
    const idle = [...sessions.values()].filter((session) => session.idleForMs() > 0);
    const oldest = idle.toSorted((a, b) => b.idleForMs() - a.idleForMs())[0];
    if (oldest !== undefined) end(oldest);
    return oldest !== undefined;
  }

  async function begin(peer: ConnectedClient): Promise<McpSession | undefined> {
    if (!makePlace()) return undefined;
    const session = new McpSession(shared, peer, () => sessions.delete(session.id));
    sessions.set(session.id, session);
    await session.connect();
    return session;
  }

  /** Another caller's session is none. */
  function findSession({ request }: Exchange, caller: Caller): McpSession | undefined {
    const session = sessions.get(request.headers.get("mcp-session-id") ?? "");
    return session?.peer.caller.id === caller.id ? session : undefined;
  }

  return {
    answerCall: (exchange, caller) => findSession(exchange, caller)?.answerCall(exchange),
    async answer(exchange, peer) {
      if (exchange.request.headers.has("mcp-session-id"))
        return findSession(exchange, peer.caller)?.answer(exchange) ?? refusal(404, "Session not found", exchange.body);
      if (exchange.request.method !== "POST" || !hasInitialize(exchange.body))
        return refusal(400, describeMissingSession(exchange.body), exchange.body);
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

function describeMissingSession(body: unknown): string {
  return isRequest(body) && body.method === "initialize"
    ? "Cannot begin a session: the params of initialize must have protocolVersion, capabilities and clientInfo"
    : "Cannot answer without a session: send initialize first, then its Mcp-Session-Id with each request";
}
