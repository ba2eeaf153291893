import { randomUUID } from "node:crypto";
import type { Readable, Writable } from "node:stream";
import { createMcpHandler, isLegacyRequest, type JSONRPCMessage, type Server } from "@modelcontextprotocol/server";
import { serveStdio } from "@modelcontextprotocol/server/stdio";

import type { Runtime } from "../../runtime.ts";
import type { SharedRuntime } from "../../runtime/api/view.ts";
import { createMultiTurnRequests } from "./sessions/multi-turn-requests.ts";
import { createLiveTasks } from "./tasks/live-tasks.ts";
import { FastPathCalls } from "./fast-path/calls.ts";
import { answerModernCall } from "./fast-path/http.ts";
import { createGateway, RequestGateway, whenListed } from "./gateway.ts";
import { canAnswer, withClient } from "./sessions/client-answers.ts";
import type { Principal, ConnectedClient, GatewayContext } from "./sessions/client-session.ts";
import { getServerTexts, withDescription } from "./instructions.ts";
import type { OpeningTexts } from "./opening/index.ts";
import { waitAtMost } from "../../shared/run-with-timeout.ts";
import { listTools } from "./tools/list-tools.ts";
import { READY_MS } from "./tools/tool-calls.ts";
import { getOfferedTools } from "./tools/tool-exposure.ts";
import { createSessionRuns, type SessionRuns } from "./features/session-runs.ts";
import type { Exchange } from "./sessions/session.ts";
import { ToolsAnnouncement } from "./opening/announcement.ts";
import { ChangeStreams } from "./sessions/change-streams.ts";
import { followStream, getListenFilter, PipeSubscriptions } from "./sessions/follow-stream.ts";
import { describeClient, followLists, sendListChanged } from "./sessions/follow-lists.ts";
import { createSessions, type SessionOptions } from "./sessions/sessions.ts";
import { getExtensions } from "./features/extensions.ts";
import { createFeatures, type Features } from "./features/caller-features.ts";
import { withoutMarks } from "./exact-messages.ts";
import { StdioServerTransport } from "./sessions/stdio-transport.ts";

export { unavailableToolError, EXPOSES, findMethodCall, type Expose, type Exposure } from "./tools/tool-exposure.ts";
export { parseExactMessages } from "./exact-messages.ts";
export { IDENTITY } from "./identity.ts";
export { selectProfile } from "./profiles.ts";
export { openEventStream } from "./sessions/event-stream.ts";
export { findCollisions } from "./addresses/collisions.ts";
export { listResources, readResource, type Library } from "./features/resources.ts";
export { outliveClient } from "./sessions/lost-client.ts";
export { runError } from "./tools/tool-results.ts";
export type { Principal } from "./sessions/client-session.ts";
export type { Features } from "./features/caller-features.ts";
export type { SessionRuns } from "./features/session-runs.ts";
export type { Exchange } from "./sessions/session.ts";

export interface McpSurfaceOptions {
  readonly sessions: SessionOptions;
  /** Maximum size of a message. */
  readonly bodyBytes: number;
  /** Milliseconds for which a task can be read after its last change; an hour by default. */
  readonly taskTtlMs?: number;
  /** Members of the `_meta` of `run_code` that the calls of its program pass on to MCP servers; none by default. */
  readonly passMeta?: readonly string[];
}

/** Serves a runtime over MCP, to clients of every version of the protocol. */
export interface McpSurface {
  /** Answers a request to the Streamable HTTP endpoint. */
  fetch(exchange: Exchange, asker: Principal): Promise<Response>;
  /** Serves one client over a pair of streams. */
  serveStreams(input: Readable, output: Writable, asker: Principal): StreamConnection;
  /**
   * Begins the session of a client whose first messages were answered before: it reads the messages, and leaves out the
   * answers.
   */
  restoreSession(id: string, messages: readonly unknown[], asker: Principal): Promise<void>;
  /** Notifies the client of a session that its list of tools has changed; without an id, all clients that listen to the 2026 protocol. */
  announceTools(sessionId: string | undefined): void;
  /** The instructions and the list of tools for a client, as they are now. */
  getTexts(asker: Principal, clientName: string): OpeningTexts;
  readonly records: SessionRuns;
  readonly features: Features;
  /** Number of open sessions. */
  readonly sessions: number;
  close(): Promise<void>;
}

export interface StreamConnection {
  /** Settles when the client has disconnected and every request is answered. */
  readonly closed: Promise<void>;
  /**
   * Stops accepting requests, answers open ones, and closes; cancels those still open after `atMostMs`, and returns false
   * if there were any.
   */
  finish(atMostMs: number): Promise<boolean>;
  /** Notifies the client that its list of tools has changed. */
  announceTools(): void;
}

export function createMcpSurface(runtime: Runtime, options: McpSurfaceOptions): McpSurface {
  const tasks = createLiveTasks(options.taskTtlMs);
  const shared: GatewayContext = {
    runtime,
    onCatalog: (listener) => runtime.on("catalog", listener),
    onList: (listener) => runtime.on("list", listener),
    conversations: createMultiTurnRequests(tasks),
    tasks,
    records: createSessionRuns(),
    features: createFeatures(),
    passMeta: options.passMeta ?? [],
  };
  const sessions = createSessions(shared, options.sessions);
  const askers = new WeakMap<Request, Principal>();
  const streams = new ChangeStreams();
  const modern = createMcpHandler(({ requestInfo }) => new RequestGateway(shared, getClient(requestInfo, askers)), {
    legacy: "reject",
    bus: streams,
    maxRequestBodySize: Number.MAX_SAFE_INTEGER, // it receives bodies that are already read and checked
  });
  const stopFollowing = runtime.on("list", (name) => {
    const skill = runtime.catalog.skill(name);
    if (skill !== undefined) shared.features.forget(skill);
  });

  return {
    async fetch(exchange, asker) {
      const listing = runtime.viewFor(asker.caller).listServersWith(asker);
      if (listing !== undefined) await waitAtMost(READY_MS, listing);
      const direct = sessions.answerCall(exchange, asker.caller) ?? answerModernCall(shared, exchange, asker);
      if (direct !== undefined) return direct;
      const { request, body } = exchange;
      const isLegacy = request.method !== "POST" || (await isLegacyRequest(request, body));
      if (isLegacy) return withoutMarks(await sessions.answer(exchange, { ...asker, era: "legacy" }));
      askers.set(request, asker);
      const answer = async (): Promise<Response> => withoutMarks(await modern.fetch(request, { parsedBody: body }));
      const filter = getListenFilter(body);
      return filter === undefined
        ? answer()
        : streams.open((send) => followStream(shared, { ...asker, era: "modern" }, filter, send), answer);
    },
    serveStreams: (input, output, asker) =>
      serveStreams(new StdioServerTransport(input, output, options.bodyBytes), asker, shared),
    getTexts(asker, clientName) {
      const { instructions, description } = getServerTexts(runtime, asker, clientName);
      const tools = listTools(shared.features, runtime.viewFor(asker.caller), asker.exposure);
      const extensions = getExtensions(runtime.viewFor(asker.caller).catalog);
      return { instructions, tools: withDescription(tools, description), extensions };
    },
    restoreSession: (id, messages, asker) => sessions.restore(id, messages, { ...asker, era: "legacy" }),
    announceTools(sessionId) {
      if (sessionId === undefined) modern.notify.toolsChanged();
      else sessions.announceTools(sessionId);
    },
    records: shared.records,
    features: shared.features,
    get sessions() {
      return sessions.size;
    },
    async close() {
      stopFollowing();
      shared.conversations.close();
      tasks.close();
      await Promise.all([sessions.close(), modern.close()]);
    },
  };
}

function getClient(request: Request | undefined, askers: WeakMap<Request, Principal>): ConnectedClient {
  const asker = request && askers.get(request);
  if (asker === undefined) throw new TypeError("The request has no principal");
  return { ...asker, era: "modern" };
}

/**
 * Lists the tools that only this client gets, and notifies it if there are some: its first list may have been answered before the
 * program was loaded.
 */
async function announceCapableTools(
  server: Server,
  mcpClient: ConnectedClient,
  { runtime, announcement }: { readonly runtime: SharedRuntime; readonly announcement: ToolsAnnouncement },
): Promise<void> {
  const { caller, exposure, requestValues } = mcpClient;
  const declared = server.getClientCapabilities();
  const can = canAnswer(declared);
  await whenListed(runtime, mcpClient, { can, requestValues }).catch(() => {}); // a call reports it
  const viewer = withClient(caller, declared);
  // The same catalog has the same list.
  if (getOfferedTools(runtime.viewFor(viewer), exposure) !== getOfferedTools(runtime.viewFor(caller), exposure))
    announcement.send();
}

function serveStreams(transport: StdioServerTransport, asker: Principal, shared: GatewayContext): StreamConnection {
  const { runtime } = shared;
  void runtime
    .viewFor(asker.caller)
    .listServersWith(asker)
    ?.catch(() => {}); // a call reports it
  const conversation = randomUUID();
  let stopFollowing = (): void => {};
  const announcement = new ToolsAnnouncement();
  const subscriptions = new PipeSubscriptions();
  let takeMessage = (_message: JSONRPCMessage): void => {};
  const handle = serveStdio(
    ({ era }) => {
      const mcpClient: ConnectedClient = { ...asker, era, conversation, transport: "pipe" };
      const logLevel = { level: undefined };
      const server = createGateway(shared, mcpClient, logLevel);
      transport.calls = new FastPathCalls(shared, mcpClient, era === "legacy" ? { server, logLevel } : undefined);
      announcement.follow(server, era, () => void announceCapableTools(server, mcpClient, { runtime, announcement }));
      stopFollowing();
      stopFollowing = followLists(shared, describeClient(server, mcpClient), (list) => sendListChanged(server, list));
      if (era === "modern")
        takeMessage = (message) =>
          subscriptions.take(
            message,
            shared,
            mcpClient,
            (uri) => void server.sendResourceUpdated({ uri }).catch(() => {}),
          ); // the client has gone
      return server;
    },
    { transport },
  );
  const { onclose, onmessage } = transport;
  transport.onmessage = (message) => {
    onmessage?.(message);
    takeMessage(message);
  };
  const closed = new Promise<void>((resolve) => {
    transport.onclose = () => {
      onclose?.();
      stopFollowing();
      subscriptions.close();
      resolve();
    };
  });
  return {
    closed,
    async finish(atMostMs) {
      const isDrained = await transport.finish(atMostMs);
      await handle.close();
      return isDrained;
    },
    announceTools: () => announcement.send(),
  };
}
