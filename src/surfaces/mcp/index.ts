import { randomUUID } from "node:crypto";
import type { Readable, Writable } from "node:stream";
import { createMcpHandler, isLegacyRequest } from "@modelcontextprotocol/server";
import { serveStdio } from "@modelcontextprotocol/server/stdio";

import type { Runtime } from "../../runtime.ts";
import { createConversations } from "./conversations.ts";
import { DirectCalls } from "./direct-calls.ts";
import { answerNewCall } from "./direct-http.ts";
import { createGateway, RequestGateway } from "./gateway.ts";
import type { Asker, Peer, Shared } from "./peer.ts";
import { createRunRecords, type RunRecords } from "./run-records.ts";
import type { Exchange } from "./session.ts";
import { createSessions, type SessionOptions } from "./sessions.ts";
import { createUpstream, type Upstream } from "./upstream.ts";
import { StdioTransport } from "./stdio-transport.ts";

export { disabledToolError, EXPOSES, type Expose, type Exposure } from "./expose.ts";
export { openEventStream } from "./event-stream.ts";
export { jsonOf } from "./plain-json.ts";
export { describeFunction, runCode, searchSkills } from "./own-calls.ts";
export { validateOwn } from "./own-input.ts";
export { isOwnTool, OWN_TOOLS } from "./own-tools.ts";
export { offersTo } from "./offers.ts";
export { listResources, readResource, type Library } from "./resources.ts";
export { runFault } from "./tool-results.ts";
export { utf8Of } from "./utf8.ts";
export { within } from "./within.ts";
export type { Asker } from "./peer.ts";
export type { Upstream } from "./upstream.ts";
export type { RunRecords } from "./run-records.ts";
export type { Exchange } from "./session.ts";

export interface McpOptions {
  readonly sessions: SessionOptions;
  /** The largest message. */
  readonly bodyBytes: number;
}

/** A runtime as an MCP server, for clients of every version of the protocol. */
export interface McpSurface {
  /** Answers a request at the endpoint of Streamable HTTP. */
  fetch(exchange: Exchange, asker: Asker): Promise<Response>;
  /** Serves one client over a pair of streams. */
  serveStreams(input: Readable, output: Writable, asker: Asker): StreamConnection;
  readonly records: RunRecords;
  readonly upstream: Upstream;
  /** Sessions that are open. */
  readonly sessions: number;
  close(): Promise<void>;
}

export interface StreamConnection {
  /** Settles when the client has gone and everything was answered. */
  readonly closed: Promise<void>;
  /** Takes no more requests, answers those that it has, and closes; what is not done after so long is cut. */
  finish(atMostMs: number): Promise<void>;
}

export function createMcpSurface(runtime: Runtime, options: McpOptions): McpSurface {
  const shared: Shared = {
    runtime,
    conversations: createConversations(),
    records: createRunRecords(),
    upstream: createUpstream(runtime),
  };
  const sessions = createSessions(shared, options.sessions);
  const askers = new WeakMap<Request, Asker>();
  const modern = createMcpHandler(({ requestInfo }) => new RequestGateway(shared, peerOf(requestInfo, askers)), {
    legacy: "reject",
    maxRequestBodySize: Number.MAX_SAFE_INTEGER, // it gets bodies that were read already
  });
  const stopFollowing = runtime.on("catalog", () => {
    sessions.changed();
    modern.notify.toolsChanged();
    modern.notify.resourcesChanged();
    modern.notify.promptsChanged();
  });

  return {
    async fetch(exchange, asker) {
      const direct = sessions.answerCall(exchange, asker.caller) ?? answerNewCall(shared, exchange, asker);
      if (direct !== undefined) return direct;
      const { request, body } = exchange;
      const isLegacy = request.method !== "POST" || (await isLegacyRequest(request, body));
      if (isLegacy) return sessions.answer(exchange, { ...asker, era: "legacy" });
      askers.set(request, asker);
      return modern.fetch(request, { parsedBody: body });
    },
    serveStreams: (input, output, asker) =>
      serveStreams(new StdioTransport(input, output, options.bodyBytes), asker, shared),
    records: shared.records,
    upstream: shared.upstream,
    get sessions() {
      return sessions.size;
    },
    async close() {
      stopFollowing();
      shared.conversations.close();
      await Promise.all([sessions.close(), modern.close()]);
    },
  };
}

function peerOf(request: Request | undefined, askers: WeakMap<Request, Asker>): Peer {
  const asker = request && askers.get(request);
  if (asker === undefined) throw new TypeError("Nobody has said who makes this request");
  return { ...asker, era: "modern" };
}

function serveStreams(transport: StdioTransport, asker: Asker, shared: Shared): StreamConnection {
  const { runtime } = shared;
  const conversation = randomUUID();
  let stopFollowing = (): void => {};
  const handle = serveStdio(
    ({ era }) => {
      const peer = { ...asker, era, conversation };
      const ears = { level: undefined };
      const server = createGateway(shared, peer, ears);
      transport.calls = new DirectCalls(shared, peer, era === "legacy" ? { server, ears } : undefined);
      stopFollowing();
      stopFollowing = runtime.on("catalog", () => {
        for (const told of [
          server.sendToolListChanged(),
          server.sendResourceListChanged(),
          server.sendPromptListChanged(),
        ])
          told.catch(() => {}); // it is not initialized yet, or closing
      });
      return server;
    },
    { transport },
  );
  const { onclose } = transport;
  const closed = new Promise<void>((resolve) => {
    transport.onclose = () => {
      onclose?.();
      stopFollowing();
      resolve();
    };
  });
  return {
    closed,
    async finish(atMostMs) {
      await transport.finish(atMostMs);
      await handle.close();
    },
  };
}
