import type { IncomingHttpHeaders } from "node:http";
import type { HttpBindings } from "@hono/node-server";
import { type Context, type Handler, Hono, type MiddlewareHandler } from "hono";

import { type RpcError, rpcError, newTraceId, ownFault } from "../../shared/rpc-errors.ts";
import { type Caller, mayAdminister } from "../../model/caller.ts";
import { isRecord } from "../../model/json.ts";
import type { Runtime } from "../../runtime.ts";
import { BUILTIN_TOOLS } from "../../runtime/builtin-tools/index.ts";
import { type Expose, EXPOSES, type McpSurface, openEventStream } from "../mcp/index.ts";
import { answerApprovalRoute } from "./approval-routes.ts";
import { type Body, bodyLimit, readJson } from "./body.ts";
import { getResourceMetadata, METADATA_PATH } from "./oauth/resource-metadata.ts";
import { type Authentication, type Authenticator, getCaller } from "./authenticate.ts";
import { type ChallengeFacts, refuseSender } from "./challenge.ts";
import type { OriginCheck } from "./origin-check.ts";
import { answerRpc, findBatchFlaw, ownFaultAnswer, type RpcResponse } from "./json-rpc.ts";
import { type Counters, metricsText } from "./metrics.ts";
import { createOpenapi } from "./openapi.ts";
import { emitAnswer, createObserver } from "./chunking.ts";
import { createRpcHandler, type RpcContext } from "./rpc-methods.ts";
import type { HttpServerSettings } from "./settings.ts";
import { answerTool } from "./tool-route.ts";
import type { InFlight } from "./in-flight.ts";
import { truncateText } from "../../shared/format-text.ts";

/** Dependencies of the endpoints. */
export interface HttpServices {
  readonly runtime: Runtime;
  readonly mcp: McpSurface;
  readonly settings: HttpServerSettings;
  readonly origins: OriginCheck;
  readonly authenticator: Authenticator;
  /** The facts about the issuer of access tokens that a 401 reports; `undefined` without an issuer. */
  readonly challenge: () => ChallengeFacts | undefined;
  readonly counters: Counters;
  readonly inFlight: InFlight;
  /** Milliseconds that a WebSocket may stay open without a valid token. */
  readonly authenticationMs: number;
  /** The URL of the server. */
  readonly url: () => string;
}

type RouteEnvironment = { Bindings: HttpBindings; Variables: { sender: Authentication; caller: Caller; body: Body } };

type RouteHandler = MiddlewareHandler<RouteEnvironment> | Handler<RouteEnvironment>;

/**
 * Creates every endpoint. All check Host and Origin; all except `/health` require a token, which `/rpc` also accepts in
 * the message.
 */
export function createRoutes(services: HttpServices): Hono<RouteEnvironment> {
  const app = new Hono<RouteEnvironment>();
  const serve = (path: keyof typeof ENDPOINTS, ...handlers: readonly RouteHandler[]): void =>
    void app.on([...ENDPOINTS[path]], [toPattern(path)], ...handlers);
  app.use(counted(services), checkOrigin(services), identifySender(services));
  serve("/health", (c) => c.json(createHealthReport(services, getCaller(c.get("sender")))));
  serveMetadata(app, services);
  serve("/rpc", readBody(services), (c) => answerAtRpc(c, services));
  // Clients look for the metadata of a login before they send a token; 404 means that no login is offered.
  app.all("/.well-known/*", (c) => notFound(c));
  app.use(requireCaller(services));
  serve("/mcp", readBody(services), (c) => answerMcp(c, services));
  serve("/tools/{name}", readBody(services), (c) => answerToolRoute(c, services));
  serve("/openapi.json", (c) =>
    c.json(createOpenapi(services.runtime.catalogFor(c.get("caller")), services.url(), services.settings.auth)),
  );
  serve("/metrics", (c) => answerMetrics(c, services));
  const { approvals } = services.runtime;
  serve("/approvals", (c) => answerApprovalRoute(approvals, { caller: c.get("caller") }));
  serve("/approvals/{id}", readBody(services), (c) => {
    const body = c.get("body");
    const answer = c.req.method === "GET" ? undefined : body.kind === "json" ? body.value : null;
    return answerApprovalRoute(approvals, { caller: c.get("caller"), id: c.req.param("id"), answer });
  });
  app.all("/ws", () =>
    refuse(426, rpcError("InvalidRequest", "The endpoint /ws accepts only WebSocket connections"), {
      upgrade: "websocket",
    }),
  );
  for (const [path, methods] of Object.entries(ENDPOINTS))
    app.all(toPattern(path), (c) => wrongMethod(c.req.method, methods.join(", ")));
  app.notFound(notFound);
  app.onError(() => refuse(500, ownFault()));
  return app;
}

/** Serves the metadata that lets clients find the issuer of access tokens. */
function serveMetadata(app: Hono<RouteEnvironment>, { settings, url }: HttpServices): void {
  const { oauth } = settings;
  if (oauth === undefined) return;
  for (const path of [METADATA_PATH, `${METADATA_PATH}/*`])
    app.get(path, (c) => c.json(getResourceMetadata(oauth, url())));
}

/** The endpoints and their methods; `/ws` answers every request itself. */
const ENDPOINTS = {
  "/mcp": ["GET", "POST", "DELETE"],
  "/rpc": ["POST"],
  "/ws": [],
  "/tools/{name}": ["POST"],
  "/openapi.json": ["GET"],
  "/health": ["GET"],
  "/metrics": ["GET"],
  "/approvals": ["GET"],
  "/approvals/{id}": ["GET", "POST"],
} as const;

const PATHS = Object.keys(ENDPOINTS);

/** `/tools/{name}` as Hono writes it. */
function toPattern(path: string): string {
  return path.replace(/\{(\w+)\}/, ":$1");
}

function notFound({ req }: Context): Response {
  const reason = `No route matches ${req.method} ${truncateText(req.path, 200)}`;
  return refuse(404, rpcError("MethodNotFound", reason, { suggestions: PATHS }));
}

function wrongMethod(method: string, allow: string): Response {
  const reason = `The method ${method} is not allowed here. Allowed: ${allow}`;
  return refuse(405, rpcError("InvalidRequest", reason), { allow });
}

/** The number of tools is that of the tools that the caller sees; strangers see only the built-in ones. */
export function createHealthReport({ counters, runtime }: Pick<HttpServices, "counters" | "runtime">, caller?: Caller) {
  const methods = caller === undefined ? [] : runtime.catalogFor(caller).methods;
  return {
    status: "healthy",
    uptime_seconds: counters.uptimeSeconds,
    tools_count: methods.length + BUILTIN_TOOLS.length,
    request_count: counters.requests,
  };
}

function counted({ counters }: HttpServices): MiddlewareHandler<RouteEnvironment> {
  return async (c, next) => {
    await next();
    const first = `/${c.req.path.split("/")[1] ?? ""}`;
    const endpoint = PATHS.find((endpoint) => endpoint.split("/")[1] === first.slice(1)) ?? "other";
    counters.count(endpoint, c.res.status);
  };
}

function checkOrigin({ origins }: HttpServices): MiddlewareHandler<RouteEnvironment> {
  return async (c, next) => {
    const { headers } = c.env.incoming;
    const reason = origins.refusal(c.env.incoming);
    if (reason !== undefined) return refuse(403, rpcError("AuthorizationError", reason));
    const cors = origins.corsHeaders(headers);
    if (c.req.method === "OPTIONS" && headers["access-control-request-method"] !== undefined)
      return preflight(cors, headers);
    await next();
    for (const [name, value] of Object.entries(cors)) c.res.headers.set(name, value);
    return undefined;
  };
}

function preflight(cors: Readonly<Record<string, string>>, headers: IncomingHttpHeaders): Response {
  return new Response(null, {
    status: 204,
    headers: {
      ...cors,
      "access-control-allow-methods": "GET, POST, DELETE",
      "access-control-allow-headers": headers["access-control-request-headers"] ?? "",
      "access-control-max-age": "600",
    },
  });
}

function identifySender({ authenticator }: HttpServices): MiddlewareHandler<RouteEnvironment> {
  return async (c, next) => {
    c.set("sender", await authenticator.authenticate(c.env.incoming.headers));
    await next();
  };
}

function requireCaller({ challenge }: HttpServices): MiddlewareHandler<RouteEnvironment> {
  return async (c, next) => {
    const sender = c.get("sender");
    if (sender.kind !== "caller") {
      const { status, error, headers } = refuseSender(sender, challenge());
      return refuse(status, error, headers);
    }
    c.set("caller", sender.caller);
    await next();
    return undefined;
  };
}

function answerMetrics(
  c: Context<RouteEnvironment>,
  { runtime, counters, mcp }: HttpServices,
): Response | Promise<Response> {
  const caller = c.get("caller");
  if (!mayAdminister(caller, "read")) {
    const suggestions = ["Use a key with the permission AdminRead"];
    return refuse(403, rpcError("AuthorizationError", "The metrics require the permission AdminRead", { suggestions }));
  }
  const text = metricsText(runtime, counters, { sessions: mcp.sessions, caller });
  return c.body(text, 200, { "content-type": "text/plain; version=0.0.4; charset=utf-8" });
}

function readBody({ settings }: HttpServices): MiddlewareHandler<RouteEnvironment> {
  return async (c, next) => {
    const { incoming } = c.env;
    const limit = bodyLimit(settings.bodyBytes, c.get("sender").kind === "caller");
    const body: Body =
      c.req.method === "POST" ? await readJson(incoming, limit, () => getTraceId(c)) : { kind: "none" };
    if (body.kind === "unfit") return refuse(body.status, body.fault);
    c.set("body", body);
    await next();
    return undefined;
  };
}

/** Creates an error response; every endpoint uses the JSON-RPC error format. */
function refuse(status: number, error: RpcError, headers: Readonly<Record<string, string>> = {}): Response {
  return Response.json({ jsonrpc: "2.0", id: null, error }, { status, headers });
}

async function answerMcp(c: Context<RouteEnvironment>, { mcp, settings, inFlight }: HttpServices): Promise<Response> {
  const body = c.get("body");
  const { incoming, outgoing } = c.env;
  if (c.req.method === "POST" && body.kind === "none") return emptyBody(getTraceId(c));
  const flaw = body.kind === "json" && Array.isArray(body.value) ? findBatchFlaw(body.value) : undefined;
  if (flaw !== undefined) return refuse(400, rpcError("InvalidRequest", flaw));
  const exposure = wantedExposure(c.req.query("expose") ?? c.req.header("x-skillgate-expose"));
  if (exposure === undefined)
    return refuse(
      400,
      rpcError("InvalidRequest", `expose must be ${EXPOSES.join(", ")}`, { field: "expose", suggestions: EXPOSES }),
    );
  if (isListening(body)) inFlight.untrack(outgoing);
  const exchange = {
    request: c.req.raw,
    body: body.kind === "json" ? body.value : undefined,
    onEnd: (listener: (wasSent: boolean) => void) =>
      void outgoing.once("close", () => listener(outgoing.writableFinished && !incoming.aborted)),
    respond: incoming.headers.origin === undefined ? respondAtOnce(outgoing) : respondAsJson,
  };
  const expose = exposure === "default" ? settings.expose : exposure;
  const { names, budgetTokens } = settings;
  const response = await mcp.fetch(exchange, { caller: c.get("caller"), exposure: { expose, names, budgetTokens } });
  response.headers.delete("connection"); // the client and Node decide whether the connection stays open
  return response;
}

function emptyBody(trace_id: string): Response {
  return refuse(400, rpcError("ParseError", "The body is empty", { trace_id }));
}

function respondAsJson(json: string, status: number, headers: Readonly<Record<string, string>>): Response {
  return new Response(json, { status, headers: { "content-type": "application/json", ...headers } });
}

/**
 * Writes an answer without a `Response` and its streams, which halves the time of a short one. Browsers get a
 * `Response`, for CORS.
 */
function respondAtOnce(outgoing: HttpBindings["outgoing"]): typeof respondAsJson {
  return (json, status, headers) => {
    if (outgoing.destroyed) return SENT; // the client has gone
    const length = String(Buffer.byteLength(json));
    outgoing.writeHead(status, { "content-type": "application/json", "content-length": length, ...headers }).end(json);
    return status === 200 ? SENT : new Response(null, { status, headers: ALREADY_SENT });
  };
}

const ALREADY_SENT = { "x-hono-already-sent": "true" };

const SENT = new Response(null, { headers: ALREADY_SENT });

/** True for the request on whose stream the 2026 protocol sends change notifications. */
function isListening(body: Body): boolean {
  return body.kind === "json" && isRecord(body.value) && body.value["method"] === "subscriptions/listen";
}

function wantedExposure(text: string | undefined): Expose | "default" | undefined {
  return text === undefined ? "default" : EXPOSES.find((expose) => expose === text);
}

async function answerAtRpc(c: Context<RouteEnvironment>, services: HttpServices): Promise<Response> {
  const body = c.get("body");
  const traceId = getTraceId(c);
  if (body.kind !== "json") return emptyBody(traceId);
  const { headers } = c.env.incoming;
  const sender = c.get("sender");
  const controller = new AbortController();
  const { outgoing } = c.env;
  outgoing.once("close", () => controller.abort());
  const context: RpcContext = {
    programs: { runtime: services.runtime, records: services.mcp.records, proxied: services.mcp.proxied },
    authenticate: ({ message }) =>
      sender.kind === "caller" ? sender : services.authenticator.authenticateMessage(message),
    challenge: services.challenge,
    signal: controller.signal,
    health: (caller) => createHealthReport(services, caller),
  };
  if (accepts(headers, "text/event-stream")) return streamRpc(body.value, context, controller, traceId);
  const answer = await answerRpc(body.value, createRpcHandler(context), traceId);
  if (answer === undefined) return c.body(null, 204);
  return "error" in answer ? answerWithError(answer, sender, services) : c.json(answer as object);
}

/** Answers with the status and headers that let HTTP clients log in again or wait. */
function answerWithError(
  answer: RpcResponse & { readonly error: RpcError },
  sender: Authentication,
  { challenge }: HttpServices,
): Response {
  const { error_type, retry_after } = answer.error.data;
  if (sender.kind === "insufficient" || (sender.kind !== "caller" && error_type === "AuthenticationError")) {
    const { status, headers } = refuseSender(sender, challenge());
    return Response.json(answer, { status, headers });
  }
  return Response.json(answer, {
    headers: retry_after === undefined ? {} : { "retry-after": String(Math.ceil(retry_after)) },
  });
}

/** Answers with a stream: notifications of the calls, and large results in parts. */
function streamRpc(value: unknown, context: RpcContext, controller: AbortController, traceId: string): Response {
  const stream = openEventStream(() => controller.abort());
  const emit = (message: unknown): void => stream.send("message", message);
  const followed = {
    ...context,
    createObserver: ({ id }: { readonly id?: string | number | null | undefined }) => createObserver(id, emit),
  };
  void answerRpc(value, createRpcHandler(followed), traceId)
    .then((answer) => answer !== undefined && emitAnswer(answer, emit))
    .catch(() => emit(ownFaultAnswer(traceId)))
    .finally(() => stream.end());
  return stream.response;
}

async function answerToolRoute(c: Context<RouteEnvironment>, { runtime, mcp }: HttpServices): Promise<Response> {
  const body = c.get("body");
  const controller = new AbortController();
  const { outgoing, incoming } = c.env;
  outgoing.once("close", () => controller.abort());
  const programs = { runtime, records: mcp.records, proxied: mcp.proxied, caller: c.get("caller") };
  const input = body.kind === "json" ? body.value : {};
  return answerTool(programs, c.req.param("name") ?? "", input, {
    signal: controller.signal,
    traceId: getTraceId(c),
    streams: accepts(incoming.headers, "text/event-stream"),
  });
}

function accepts({ accept = "" }: IncomingHttpHeaders, type: string): boolean {
  return accept.includes(type) && !accept.includes("application/json");
}

/** Returns the trace id of a W3C `traceparent` header, or a new one. */
function getTraceId(c: Context<RouteEnvironment>): string {
  return /^00-([0-9a-f]{32})-[0-9a-f]{16}-[0-9a-f]{2}$/.exec(c.req.header("traceparent") ?? "")?.[1] ?? newTraceId();
}
