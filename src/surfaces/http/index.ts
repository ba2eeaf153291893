import { once } from "node:events";
import { createServer, type Server } from "node:http";
import { getRequestListener } from "@hono/node-server";

import { getMessage, sentence, SkillgateError } from "../../errors.ts";
import { isRecord } from "../../model/json.ts";
import type { Runtime } from "../../runtime.ts";
import { createMcpSurface } from "../mcp/index.ts";
import { createAuthenticator, OWNER_AUTHENTICATION, type TokenCheck } from "./auth/authenticate.ts";
import { createKeyCheck } from "./auth/key-check.ts";
import { createOriginCheck, isLoopback } from "./origin-check.ts";
import { createCounters } from "./metrics.ts";
import { getChallengeFacts } from "./oauth/resource-metadata.ts";
import { createRoutes } from "./routes.ts";
import type { HttpServices, WebPages } from "./services.ts";
import type { HttpServerSettings } from "./settings.ts";
import { serveSockets } from "./socket.ts";
import { createInFlight } from "./in-flight.ts";
import { AUTHENTICATION_MS } from "./auth/unauthenticated.ts";

export { parseServerSettings, SERVER_DEFAULTS, SERVER_SCHEMA, type HttpServerSettings } from "./settings.ts";
export { openToken } from "./auth/token.ts";
export { type Authentication, OWNER_AUTHENTICATION } from "./auth/authenticate.ts";
export { closeAfterCredential, followCredential } from "./auth/follow-credential.ts";
export { readJson } from "./body.ts";
export type { HttpServices, RouteEnvironment, WebPages } from "./services.ts";

/** A listening server. */
export interface HttpServer {
  /** `http://127.0.0.1:3333` */
  readonly url: string;
  /**
   * Stops accepting requests, waits up to `drainSeconds` for those in progress, and closes. Returns false if requests were
   * still in progress then.
   */
  close(): Promise<boolean>;
}

interface ServeHttpOptions {
  /** Milliseconds that a WebSocket may stay open without a valid token. */
  readonly authenticationMs?: number;
  /** Milliseconds for which an MCP task can be read after its last change. */
  readonly taskTtlMs?: number;
  /** Writes a line to the log; to stderr by default. */
  readonly log?: (text: string) => void;
  /** The web console; without it, the server has no pages. */
  readonly pages?: WebPages | undefined;
}

const writeLine = (text: string): void => void process.stderr.write(`${text}\n`);

/** Serves a runtime over HTTP. `isToken` recognizes the token of the owner; it is absent if the settings have `auth: false`. */
export async function serveHttp(
  runtime: Runtime,
  settings: HttpServerSettings,
  isToken?: (token: string) => boolean,
  { authenticationMs = AUTHENTICATION_MS, taskTtlMs, log = writeLine, pages }: ServeHttpOptions = {},
): Promise<HttpServer> {
  refuseOpenServer(settings, isToken !== undefined);
  const mcp = createMcpSurface(runtime, {
    bodyBytes: settings.bodyBytes,
    sessions: { most: settings.sessions, idleMs: settings.sessionIdleSeconds * 1_000 },
    ...(taskTtlMs !== undefined && { taskTtlMs }),
  });
  let url = "";
  const keyCheck = createKeyCheck(runtime);
  const services: HttpServices = {
    runtime,
    mcp,
    settings,
    origins: createOriginCheck({ ...settings, hasToken: isToken !== undefined }),
    authenticator: createAuthenticator(
      isToken && [checkOwnToken(isToken), keyCheck.check, ...checkIssuer(settings, log)],
    ),
    challenge: () => settings.oauth && getChallengeFacts(settings.oauth, url, runtime.policy.roles),
    counters: createCounters(),
    inFlight: createInFlight(),
    authenticationMs,
    url: () => url,
    pages,
  };
  const server = httpServer(services);
  const sockets = serveSockets(server, services);
  url = await listen(server, settings);
  return {
    url,
    async close() {
      const until = performance.now() + settings.drainSeconds * 1_000;
      const closed = once(server, "close");
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

function checkOwnToken(isToken: (token: string) => boolean): TokenCheck {
  return (token) => (isToken(token) ? OWNER_AUTHENTICATION : undefined);
}

/** Refuses to listen on other addresses than loopback without a token. */
function refuseOpenServer({ host }: HttpServerSettings, hasToken: boolean): void {
  if (hasToken || isLoopback(host)) return;
  const values = `without a token, the server listens only on this machine, not on ${host}`;
  throw new SkillgateError("OPTION_INVALID", sentence("OPTION_INVALID", values));
}

/** Creates the server with its timeouts. Node answers 408 if a request or its headers arrive too late. */
function httpServer(services: HttpServices): Server {
  const { headerBytes, requestSeconds } = services.settings;
  const routes = createRoutes(services);
  const listener = getRequestListener((request, env) => routes.fetch(request, env), { overrideGlobalObjects: false });
  const server = createServer(
    {
      maxHeaderSize: headerBytes,
      headersTimeout: Math.min(10, requestSeconds) * 1_000,
      requestTimeout: requestSeconds * 1_000,
      connectionsCheckingInterval: Math.min(requestSeconds * 500, 5_000),
    },
    (incoming, outgoing) => {
      if (incoming.method === "POST") services.inFlight.trackResponse(outgoing);
      // Drop a client that stops reading its answer, and free the buffers held for it.
      outgoing.once("prefinish", () => outgoing.socket?.setTimeout(requestSeconds * 1_000));
      void listener(incoming, outgoing);
    },
  );
  server.maxConnections = MAX_CONNECTIONS;
  return server;
}

const MAX_CONNECTIONS = 4_096;

/** Milliseconds for clients to receive the last answers. */
const SHUTDOWN_GRACE_MS = 500;

function describeListenError(thrown: unknown, host: string, port: number): string {
  switch (isRecord(thrown) ? thrown["code"] : undefined) {
    case "EADDRINUSE":
      return `port ${port} of ${host} is in use; --port 0 picks a free one`;
    case "EACCES":
      return `port ${port} is reserved for the system; use one above 1023`;
    case "EADDRNOTAVAIL":
    case "ENOTFOUND":
      return `this machine does not have the address ${host}`;
    default:
      return `cannot listen on ${host}:${port}: ${getMessage(thrown)}`;
  }
}

async function listen(server: Server, { host, port }: HttpServerSettings): Promise<string> {
  server.listen(port, host);
  try {
    await once(server, "listening");
  } catch (thrown) {
    throw new SkillgateError("OPTION_INVALID", sentence("OPTION_INVALID", describeListenError(thrown, host, port)));
  }
  const address = server.address();
  const boundPort = typeof address === "object" && address !== null ? address.port : port;
  return `http://${host.includes(":") ? `[${host}]` : host}:${boundPort}`;
}
