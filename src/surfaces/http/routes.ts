import type { IncomingHttpHeaders } from "node:http";
import { type Context, type Handler, Hono, type MiddlewareHandler } from "hono";

import { RPC_ERRORS, rpcError, toRpcError } from "../../shared/rpc-errors.ts";
import { createRequestValues } from "../../model/requests/request-values.ts";
import { answerApprovalRoute } from "./approval-routes.ts";
import { getCaller } from "./auth/authenticate.ts";
import { refuseSender } from "./auth/challenge.ts";
import { closeAfterCredential, followCredential } from "./auth/follow-credential.ts";
import { type Body, bodyLimit, readJson } from "./body.ts";
import { answerMcp } from "./mcp-route.ts";
import { parseExactMessages } from "../mcp/index.ts";
import { metricsText } from "./metrics.ts";
import { getResourceMetadata, METADATA_PATH } from "./oauth/resource-metadata.ts";
import { serveConnect } from "./connect/index.ts";
import { createHookRoute } from "./hooks/index.ts";
import { createOpenapi } from "./openapi/index.ts";
import {
  abortWithClient,
  accepts,
  createResponder,
  getTraceId,
  inTrace,
  refuseAsProblem,
  refuseAt,
} from "./responses.ts";
import { answerAtRpc } from "./rpc-route.ts";
import type { RuntimeView } from "../../runtime/api/view.ts";
import { createHealthReport, type HttpServices, isUnready, type RouteEnvironment } from "./services.ts";
import { serveCards, servePublicCards } from "./cards/index.ts";
import { answerStartPage } from "./start-page.ts";
import { traceHttpRequests } from "./trace-request.ts";
import { answerTool } from "./tool-route.ts";
import { truncateText } from "../../shared/format-text.ts";

type RouteHandler = MiddlewareHandler<RouteEnvironment> | Handler<RouteEnvironment>;

/**
 * Creates every endpoint. All check Host and Origin; all except `/health` and `/hooks/{id}` require a token, which `/rpc` also
 * accepts in the message.
 */
export function createRoutes(services: HttpServices): Hono<RouteEnvironment> {
  const app = new Hono<RouteEnvironment>();
  const serve = (path: keyof typeof ENDPOINTS, ...handlers: readonly RouteHandler[]): void =>
    void app.on([...ENDPOINTS[path]], [toPattern(path)], ...handlers);
  servePublicCards(app, services);
  app.use(traceHttpRequests(findRoute), counted(services), checkOrigin(services));
  // Its senders have no token, and may send another secret in its place.
  serve("/hooks/{id}", createHookRoute(services));
  app.all(toPattern("/hooks/{id}"), (c) => wrongMethod(c, "POST"));
  serve("/health", (c) => answerHealth(c, services));
  app.use(identifySender(services));
  serveMetadata(app, services);
  serve("/rpc", readBody(services), (c) => answerAtRpc(c, services));
  // Clients look for the metadata of a login before they send a token; 404 means that no login is offered.
  for (const path of ["/.well-known/*", "/register"]) app.all(path, (c) => notFound(c));
  if (services.pages === undefined) app.get("/", () => answerStartPage());
  services.pages?.mount(app, services);
  serveConnect(app, services);
  app.use(requireCaller(services));
  serveCards(app, services);
  for (const path of ["/mcp", "/mcp/{profile}"] as const)
    serve(path, readBody(services, parseExactMessages), (c) => answerMcp(c, services));
  serve("/tools/{name}", readBody(services), (c) => answerToolRoute(c, services));
  serve("/openapi.json", (c) =>
    c.json(createOpenapi(services.runtime.viewFor(c.get("caller")), services.publicUrl(), services.settings.auth)),
  );
  serve("/metrics", (c) => answerMetrics(c, services));
  const approvalsFor = (c: Context<RouteEnvironment>): RuntimeView["approvals"] =>
    services.runtime.viewFor(c.get("caller")).approvals;
  serve("/approvals", (c) => answerApprovalRoute(approvalsFor(c), inTrace(c)));
  serve("/approvals/{id}", readBody(services), (c) => {
    const body = c.get("body");
    const answer = c.req.method === "GET" ? undefined : body.kind === "json" ? body.value : null;
    return answerApprovalRoute(approvalsFor(c), { id: c.req.param("id"), answer, ...inTrace(c) });
  });
  app.all("/ws", (c) => {
    const reason = "The endpoint /ws accepts only WebSocket connections";
    return refuseAt(c.req.path, 426, rpcError("InvalidRequest", reason, inTrace(c)), { upgrade: "websocket" });
  });
  for (const [path, methods] of Object.entries(ENDPOINTS))
    app.all(toPattern(path), (c) => wrongMethod(c, methods.join(", ")));
  app.notFound(notFound);
  app.onError((error, c) => {
    const fault = toRpcError(error, c.req.path, inTrace(c));
    return refuseAt(c.req.path, RPC_ERRORS[fault.data.error_type].status, fault);
  });
  return app;
}

/** With `?ready`, a server that cannot serve as it should answers 503, so that load balancers send requests to others. */
async function answerHealth(c: Context<RouteEnvironment>, services: HttpServices): Promise<Response> {
  // A store that fails cannot check a key: its sender gets the report of strangers.
  const sender = await services.authenticator.authenticate(c.env.incoming.headers).catch(() => undefined);
  const isRefused = c.req.query("ready") !== undefined && isUnready(services.runtime);
  return c.json(createHealthReport(services, sender && getCaller(sender)), isRefused ? 503 : 200);
}

/** Serves the metadata that lets clients find the issuer of access tokens. */
function serveMetadata(app: Hono<RouteEnvironment>, { settings, publicUrl }: HttpServices): void {
  const { oauth } = settings;
  if (oauth === undefined) return;
  for (const path of [METADATA_PATH, `${METADATA_PATH}/*`])
    app.get(path, (c) => c.json(getResourceMetadata(oauth, publicUrl())));
}

/** The endpoints and their methods; `/ws` answers every request itself. */
const ENDPOINTS = {
  "/mcp": ["GET", "POST", "DELETE"],
  "/mcp/{profile}": ["GET", "POST", "DELETE"],
  "/rpc": ["POST"],
  "/ws": [],
  "/tools/{name}": ["POST"],
  "/openapi.json": ["GET"],
  "/health": ["GET"],
  "/metrics": ["GET"],
  "/approvals": ["GET"],
  "/approvals/{id}": ["GET", "POST"],
  "/hooks/{id}": ["POST"],
} as const;

const PATHS = Object.keys(ENDPOINTS);

/** `/tools/{name}` as Hono writes it. */
function toPattern(path: string): string {
  return path.replace(/\{(\w+)\}/, ":$1");
}

function notFound(c: Context<RouteEnvironment>): Response {
  const reason = `No route matches ${c.req.method} ${truncateText(c.req.path, 200)}`;
  return refuseAsProblem(404, rpcError("MethodNotFound", reason, { suggestions: PATHS, ...inTrace(c) }));
}

function wrongMethod(c: Context<RouteEnvironment>, allow: string): Response {
  const reason = `The method ${c.req.method} is not allowed here. Allowed: ${allow}`;
  return refuseAt(c.req.path, 405, rpcError("InvalidRequest", reason, inTrace(c)), { allow });
}

function counted({ counters }: HttpServices): MiddlewareHandler<RouteEnvironment> {
  return async (c, next) => {
    await next();
    counters.count(findRoute(c.req.path), c.res.status);
  };
}

/** Returns the endpoint of a path; `other` for an unknown one. */
function findRoute(path: string): string {
  return PATHS.find((endpoint) => endpoint.split("/")[1] === path.split("/")[1]) ?? "other";
}

function checkOrigin({ origins, pages }: HttpServices): MiddlewareHandler<RouteEnvironment> {
  return async (c, next) => {
    const { headers } = c.env.incoming;
    const reason = origins.refusal(c.env.incoming);
    if (reason !== undefined) return refuseAt(c.req.path, 403, rpcError("AuthorizationError", reason, inTrace(c)));
    const isOwnPage = pages !== undefined && `${c.req.path}/`.startsWith(`${pages.prefix}/`);
    const cors = isOwnPage ? {} : origins.corsHeaders(headers);
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

/** Identifies the sender, and refuses a caller that has its share of connections. */
function identifySender({ authenticator, connections }: HttpServices): MiddlewareHandler<RouteEnvironment> {
  return async (c, next) => {
    const { incoming, outgoing } = c.env;
    const sender = await authenticator.authenticate(incoming.headers);
    if (sender.kind === "caller") {
      const reason = connections.claim(incoming.socket, sender.caller.id);
      if (reason !== undefined) return refuseFull(c, reason);
      closeAfterCredential(outgoing, sender.life);
    }
    c.set("sender", sender);
    await next();
    return undefined;
  };
}

function refuseFull(c: Context<RouteEnvironment>, reason: string): Response {
  const error = rpcError("InternalError", reason, { suggestions: ["Close other connections"], ...inTrace(c) });
  return refuseAt(c.req.path, 503, error, { "retry-after": "1", connection: "close" });
}

function requireCaller({ challenge }: HttpServices): MiddlewareHandler<RouteEnvironment> {
  return async (c, next) => {
    const sender = c.get("sender");
    if (sender.kind !== "caller") {
      const { status, error, headers } = refuseSender(sender, challenge(), getTraceId(c));
      return refuseAt(c.req.path, status, error, headers);
    }
    c.set("caller", sender.caller);
    c.set("life", sender.life);
    await next();
    return undefined;
  };
}

function answerMetrics(c: Context<RouteEnvironment>, { runtime, counters, mcp }: HttpServices): Response {
  const text = metricsText(runtime.viewFor(c.get("caller")), counters, mcp.sessions);
  return c.body(text, 200, { "content-type": "text/plain; version=0.0.4; charset=utf-8" });
}

function readBody(
  { settings, bodies }: HttpServices,
  parse?: (text: string) => unknown,
): MiddlewareHandler<RouteEnvironment> {
  return async (c, next) => {
    const { incoming } = c.env;
    const limit = bodyLimit(settings.bodyBytes, bodies, getCaller(c.get("sender")));
    const body: Body =
      c.req.method === "POST" ? await readJson(incoming, limit, () => getTraceId(c), parse) : { kind: "none" };
    if (body.kind === "unfit")
      return refuseAt(c.req.path, body.status, body.fault, body.status === 503 ? { "retry-after": "1" } : {});
    c.set("body", body);
    await next();
    return undefined;
  };
}

async function answerToolRoute(
  c: Context<RouteEnvironment>,
  { runtime, mcp, challenge }: HttpServices,
): Promise<Response> {
  const body = c.get("body");
  const controller = abortWithClient(c);
  const { outgoing, incoming } = c.env;
  const requestValues = createRequestValues(c.req.raw.headers);
  const view = runtime.viewFor(c.get("caller"));
  await view.listServersWith({ requestValues });
  const programs = { view, records: mcp.records, features: mcp.features, requestValues };
  const input = body.kind === "json" ? body.value : {};
  const { signal, stop } = followCredential(controller.signal, c.get("life"));
  outgoing.once("close", stop);
  return answerTool(programs, c.req.param("name") ?? "", input, {
    signal,
    traceId: getTraceId(c),
    challenge,
    respond: createResponder(c),
    streams: accepts(incoming.headers, "text/event-stream"),
  });
}
