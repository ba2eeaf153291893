import { once } from "node:events";
import type { Server } from "node:http";
import type { Writable } from "node:stream";
import { getRequestListener } from "@hono/node-server";

import type { Runtime } from "../../runtime.ts";
import { createMcpSurface } from "../mcp/index.ts";
import { createAuthenticator, createOwnTokenCheck, type TokenCheck } from "./auth/authenticate.ts";
import { createKeyCheck } from "./auth/key-check.ts";
import { createOriginCheck } from "./origin-check.ts";
import { createCounters } from "./metrics.ts";
import { getChallengeFacts } from "./oauth/resource-metadata.ts";
import { createRoutes } from "./routes.ts";
import type { HttpServices, WebPages } from "./services.ts";
import type { HttpServerSettings } from "./settings.ts";
import { serveSockets } from "./socket.ts";
import { continueSessions } from "./opening/continue-sessions.ts";
import type { EarlyServer } from "./opening/index.ts";
import { listen } from "./opening/listen.ts";
import { refuseRequest } from "./opening/refuse-request.ts";
import { CONNECTION_LIMITS, type Connections, createConnections } from "./connection-limits.ts";
import { createInFlight } from "./in-flight.ts";
import { createCallerBodies } from "./body.ts";
import { AUTHENTICATION_MS } from "./auth/unauthenticated.ts";

export { parseServerSettings, SERVER_DEFAULTS, SERVER_SCHEMA, type HttpServerSettings } from "./settings.ts";
export { openToken } from "./auth/token.ts";
export { type Authentication, OWNER_AUTHENTICATION } from "./auth/authenticate.ts";
export { closeAfterCredential, followCredential } from "./auth/follow-credential.ts";
export { bodyLimit, readJson } from "./body.ts";
export type { HttpServices, RouteEnvironment, WebPages } from "./services.ts";

/** A listening server. */
export interface HttpServer {
  /** `http://127.0.0.1:3333` */
  readonly url: string;
  /**
   * Refuses requests that follow with 503, answers callers whose programs wait for a person, waits up to `drainSeconds` for
   * other requests in progress, and closes. Returns false if requests were still in progress then.
   */
  close(): Promise<boolean>;
}

interface ServeHttpOptions {
  /** Milliseconds that a WebSocket may stay open without a valid token. */
  readonly authenticationMs?: number;
  /** The connections that share the limits of the server. */
  readonly connections?: Connections;
  /** Milliseconds for which an MCP task can be read after its last change. */
  readonly taskTtlMs?: number;
  /** Writes a line to the log; to stderr by default. */
  readonly log?: (text: string) => void;
  /** The web console; without it, the server has no pages. */
  readonly pages?: WebPages | undefined;
  /** The server that listens with the same settings already; by default a new one is opened. */
  readonly early?: EarlyServer | undefined;
}

const writeLine = (text: string): void => void process.stderr.write(`${text}\n`);

/** Serves a runtime over HTTP. `isToken` recognizes the token of the owner; it is absent if the settings have `auth: false`. */
export async function serveHttp(
  runtime: Runtime,
  settings: HttpServerSettings,
  isToken?: (token: string) => boolean,
  {
    authenticationMs = AUTHENTICATION_MS,
    taskTtlMs,
    log = writeLine,
    connections = createConnections(CONNECTION_LIMITS, log),
    pages,
    early,
  }: ServeHttpOptions = {},
): Promise<HttpServer> {
  const { server, url } = early ?? (await listen(settings, isToken !== undefined));
  const publicUrl = settings.publicUrl || url;
  runtime.accounts.linkTo(publicUrl);
  const mcp = createMcpSurface(runtime, {
    bodyBytes: settings.bodyBytes,
    passMeta: settings.passMeta,
    sessions: { most: settings.sessions, idleMs: settings.sessionIdleSeconds * 1_000 },
    ...(taskTtlMs !== undefined && { taskTtlMs }),
  });
  const keyCheck = createKeyCheck(runtime);
  const services: HttpServices = {
    runtime,
    mcp,
    settings,
    origins: createOriginCheck({ ...settings, hasToken: isToken !== undefined }),
    authenticator: createAuthenticator(
      isToken && [createOwnTokenCheck(isToken), keyCheck.check, ...checkIssuer(settings, log)],
    ),
    challenge: () => settings.oauth && getChallengeFacts(settings.oauth, publicUrl, runtime.policy.roles),
    counters: createCounters(),
    inFlight: createInFlight(),
    connections,
    bodies: createCallerBodies(settings.bodyBytes),
    authenticationMs,
    url: () => url,
    publicUrl: () => publicUrl,
    pages,
  };
  if (early !== undefined) await continueSessions(early, services);
  const release = early?.transfer();
  serveRequests(server, services);
  const sockets = serveSockets(server, services);
  release?.();
  return {
    url,
    async close() {
      const until = performance.now() + settings.drainSeconds * 1_000;
      const closed = once(server, "close");
      services.inFlight.stop();
      runtime.releaseCallers();
      // server.close() would cut off responses that are still being sent.
      await services.inFlight.waitUntilSent(settings.drainSeconds * 1_000);
      server.close();
      const isDrained = await services.inFlight.waitUntilIdle(Math.max(0, until - performance.now()));
      sockets.close();
      pages?.close();
      await mcp.close();
      keyCheck.close();
      await services.inFlight.waitUntilIdle(SHUTDOWN_GRACE_MS);
      server.closeAllConnections();
      await closed;
      return isDrained;
    },
  };
}

/** Imports the verification of access tokens with the first one. */
function checkIssuer({ oauth }: HttpServerSettings, log: (text: string) => void): readonly TokenCheck[] {
  if (oauth === undefined) return [];
  let check: Promise<TokenCheck> | undefined;
  return [
    async (token) => {
      check ??= import("./oauth/access-tokens.ts").then((module) => module.createAccessTokenCheck(oauth, { log }));
      return (await check)(token);
    },
  ];
}

/** Answers the requests of a server. */
function serveRequests(server: Server, services: HttpServices): void {
  const { requestSeconds } = services.settings;
  const routes = createRoutes(services);
  const fetch: Parameters<typeof getRequestListener>[0] = async (request, env) => {
    const response = await routes.fetch(request, env);
    if (!response.headers.has("content-disposition")) writeAtOnce(env.outgoing);
    return response;
  };
  const listener = getRequestListener(fetch, { overrideGlobalObjects: false });
  server.on("request", (incoming, outgoing) => {
    const { isStopping } = services.inFlight;
    if (!services.connections.addRequest(incoming.socket, outgoing)) return;
    if (isStopping || incoming.method === "POST") services.inFlight.trackResponse(outgoing);
    if (isStopping) return void refuseRequest(incoming, outgoing, STOPPING);
    // Drop a client that stops reading its answer, and free the buffers held for it.
    outgoing.once("prefinish", () => outgoing.socket?.setTimeout(requestSeconds * 1_000));
    void listener(incoming, outgoing);
  });
}

/**
 * Writes an answer without waiting for its client, so that all that the client has not read is counted. Else it would be in the
 * queue of a stream that reports events. Only the source of a download waits for its reader.
 */
function writeAtOnce(outgoing: Writable): void {
  const write = outgoing.write.bind(outgoing) as (...args: readonly unknown[]) => boolean;
  outgoing.write = (...args: readonly unknown[]) => {
    write(...args);
    return true;
  };
}

const STOPPING = { reason: "The server is stopping", suggestions: ["Send the request again, to a server that runs"] };

/** Milliseconds for clients to receive the last answers. */
const SHUTDOWN_GRACE_MS = 500;
