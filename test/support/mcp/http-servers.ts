import { randomUUID } from "node:crypto";
import { once } from "node:events";
import { createServer, type IncomingMessage, type Server, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";

import { toNodeHandler } from "@modelcontextprotocol/node";
import { McpServer as OldServer } from "@modelcontextprotocol/sdk/server/mcp.js";
import { SSEServerTransport } from "@modelcontextprotocol/sdk/server/sse.js";
import { StreamableHTTPServerTransport } from "@modelcontextprotocol/sdk/server/streamableHttp.js";
import { createMcpHandler, McpServer } from "@modelcontextprotocol/server";
import { onTestFinished } from "vitest";
import { z } from "zod";

/** A server over HTTP on a free port, closed when the test is over. */
export interface HttpServer {
  readonly url: string;
  /** Requests that it received: method, path and the relevant headers, in order. */
  readonly requests: readonly string[];
  /** The values of `traceparent` that it received. */
  readonly traces: readonly string[];
  /** Ends all connections, as a crash would. */
  breakOff(): void;
  close(): Promise<void>;
}

/** A server of version 2026-07-28: no handshake, no session. */
export async function modernServer(port = 0): Promise<HttpServer> {
  const handler = createMcpHandler(() => {
    const server = new McpServer({ name: "modern", version: "1.0.0" });
    const inputSchema = z.object({ message: z.string() });
    server.registerTool("echo", { inputSchema }, ({ message }) => ({ content: [{ type: "text", text: message }] }));
    return server;
  });
  const answer = toNodeHandler(handler);
  return serve(async (request, response) => answer(request as Parameters<typeof answer>[0], response), port);
}

/** A server of version 2025-11-25, with sessions that it can forget; `calls` counts the calls that it has answered. */
export async function sessionServer(
  unknownSession = 404,
): Promise<HttpServer & { forget(): void; readonly calls: readonly string[] }> {
  const sessions = new Map<string, StreamableHTTPServerTransport>();
  const calls: string[] = [];
  const server = await serve(async (request, response) => {
    const id = request.headers["mcp-session-id"];
    const known = typeof id === "string" ? sessions.get(id) : undefined;
    if (id !== undefined && known === undefined)
      return void response.writeHead(unknownSession).end("Session not found");
    const transport =
      known ??
      new StreamableHTTPServerTransport({
        sessionIdGenerator: randomUUID,
        onsessioninitialized: (session) => void sessions.set(session, transport),
      });
    if (known === undefined) await oldServer(calls).connect(transport as Parameters<OldServer["connect"]>[0]);
    await transport.handleRequest(request, response);
  });
  return Object.assign(server, { forget: () => sessions.clear(), calls });
}

/** A server of version 2024-11-05: a stream of events, and a second address for messages. */
export async function eventServer(): Promise<HttpServer> {
  const streams = new Map<string, SSEServerTransport>();
  return serve(async (request, response) => {
    const { pathname, searchParams } = new URL(request.url ?? "", "http://localhost");
    if (request.method === "GET" && pathname === "/") {
      const transport = new SSEServerTransport("/messages", response);
      streams.set(transport.sessionId, transport);
      return oldServer([]).connect(transport);
    }
    const transport = streams.get(searchParams.get("sessionId") ?? "");
    if (pathname !== "/messages" || transport === undefined)
      return void response.writeHead(405).end("Method not allowed");
    return transport.handlePostMessage(request, response);
  });
}

/** A server of version 2025-11-25 without sessions; it answers with one message of JSON each. Resets the first connections. */
export async function jsonServer(resets = 0): Promise<HttpServer> {
  let left = resets;
  return serve(async (request, response) => {
    if (left-- > 0) return void request.socket.resetAndDestroy();
    const transport = new StreamableHTTPServerTransport({ enableJsonResponse: true });
    await oldServer([]).connect(transport as Parameters<OldServer["connect"]>[0]);
    await transport.handleRequest(request, response);
  });
}

/** A request that a reflecting server received. */
export interface Reflected {
  readonly path: string;
  readonly headers: Readonly<Record<string, unknown>>;
}

/**
 * A server of version 2025-11-25 without sessions, which returns what it gets: `seen` the path and the headers, `leak` a header and
 * the path in an error. It answers 401 to requests without the header `requires`.
 */
export function reflectingServer({ requires }: { readonly requires?: string } = {}): Promise<HttpServer> {
  return serve(async (request, response) => {
    if (requires !== undefined && request.headers[requires] === undefined)
      return void response.writeHead(401).end(`no ${requires}`);
    const server = new OldServer({ name: "reflecting", version: "1.0.0" });
    const seen: Reflected = { path: request.url ?? "", headers: request.headers };
    const leak = `${seen.path} with ${String(request.headers["authorization"])}`;
    server.registerTool("seen", { annotations: { readOnlyHint: true } }, () => ({
      content: [{ type: "text", text: JSON.stringify(seen) }],
    }));
    server.registerTool("leak", { description: `Fails at ${seen.path}` }, () => ({
      isError: true,
      content: [{ type: "text", text: leak }],
    }));
    server.registerResource("path", "seen://path", {}, () => ({ contents: [{ uri: "seen://path", text: seen.path }] }));
    const transport = new StreamableHTTPServerTransport({ enableJsonResponse: true });
    await server.connect(transport as Parameters<OldServer["connect"]>[0]);
    await transport.handleRequest(request, response);
  });
}

/** Answers every request in one way. */
export function plainServer(status: number, body: string): Promise<HttpServer> {
  return serve(
    async (_request, response) => void response.writeHead(status, { "content-type": "text/plain" }).end(body),
  );
}

function oldServer(calls: string[]): OldServer {
  const server = new OldServer({ name: "old", version: "1.0.0" }, { capabilities: { logging: {} } });
  const said = (text: string): { content: { type: "text"; text: string }[] } => {
    calls.push(text);
    return { content: [{ type: "text", text }] };
  };
  server.registerTool(
    "echo",
    { inputSchema: { message: z.string() }, annotations: { readOnlyHint: true } },
    ({ message }) => said(message),
  );
  server.registerTool("pay", {}, () => said("paid"));
  server.registerTool("huge", {}, () => said("x".repeat(1 << 20)));
  server.registerTool("never", {}, async ({ sendNotification }) => {
    await sendNotification({ method: "notifications/message", params: { level: "info", data: "on my way" } });
    return new Promise<never>(() => {});
  });
  return server;
}

type Listener = (request: IncomingMessage, response: ServerResponse) => Promise<void>;

/** Port 0 is any free port. */
export async function serve(listener: Listener, listenPort = 0): Promise<HttpServer> {
  const requests: string[] = [];
  const traces: string[] = [];
  const server = createServer((request, response) => {
    const { traceparent } = request.headers;
    if (typeof traceparent === "string") traces.push(traceparent);
    requests.push(`${request.method} ${request.url} ${request.headers.authorization ?? ""}`.trim());
    void listener(request, response);
  });
  await once(server.listen(listenPort, "127.0.0.1"), "listening");
  const { port } = server.address() as AddressInfo;
  const close = (): Promise<void> => stop(server);
  onTestFinished(close);
  return { url: `http://127.0.0.1:${port}/`, requests, traces, breakOff: () => server.closeAllConnections(), close };
}

async function stop(server: Server): Promise<void> {
  if (!server.listening) return;
  server.close();
  server.closeAllConnections();
  await once(server, "close");
}
