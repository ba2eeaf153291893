import type { IncomingHttpHeaders } from "node:http";
import type { HttpBindings } from "@hono/node-server";
import { Hono } from "hono";
import type { Context, MiddlewareHandler } from "hono";

import { type Fault, fault, newTraceId, ownFault } from "../../fault.ts";
import type { Caller } from "../../model/caller.ts";
import { isRecord } from "../../model/json.ts";
import type { Runtime } from "../../runtime.ts";
import { type Expose, EXPOSES, type McpSurface, openEventStream, OWN_TOOLS } from "../mcp/index.ts";
import { type Body, bodyLimit, readJson } from "./body.ts";
import type { Door } from "./door.ts";
import type { Gate } from "./gate.ts";
import { answerRpc, batchFlaw, ownFaultAnswer } from "./json-rpc.ts";
import { type Counters, metricsText } from "./metrics.ts";
import { openapiOf } from "./openapi.ts";
import { emitAnswer, followerTo } from "./parts.ts";
import { performAt, type RpcDesk, unauthenticated } from "./rpc-methods.ts";
import type { ServerSettings } from "./settings.ts";
import { answerTool } from "./tool-route.ts";
import type { Traffic } from "./traffic.ts";

/** What the endpoints work with. */
export interface House {
  readonly runtime: Runtime;
  readonly mcp: McpSurface;
  readonly settings: ServerSettings;
  readonly gate: Gate;
  readonly door: Door;
  readonly counters: Counters;
  readonly traffic: Traffic;
  /** How long a WebSocket may stay open without a valid token. */
  readonly authenticationMs: number;
  /** Where clients find the server. */
  readonly url: () => string;
}

type Environment = { Bindings: HttpBindings; Variables: { caller: Caller; body: Body } };

/** Every endpoint of the server, behind the gate and, but for `/health`, behind the door. */
export function createRoutes(house: House): Hono<Environment> {
  const app = new Hono<Environment>();
  app.use(counted(house), gated(house));
  app.get("/health", (c) => c.json(healthOf(house)));
  app.post("/rpc", readBody(house), (c) => answerAtRpc(c, house));
  app.use(inside(house));
  app.on(["GET", "POST", "DELETE"], "/mcp", readBody(house), (c) => answerMcp(c, house));
  app.post("/tools/:name", readBody(house), (c) => answerToolRoute(c, house));
  app.get("/openapi.json", (c) =>
    c.json(openapiOf(house.runtime.catalogFor(c.get("caller")), house.url(), house.settings.auth)),
  );
  app.get("/metrics", (c) => {
    const text = metricsText(house.runtime, house.counters, house.mcp.sessions);
    return c.body(text, 200, { "content-type": "text/plain; version=0.0.4; charset=utf-8" });
  });
  app.all("/ws", () => refuse(426, fault("InvalidRequest", "Open it as a WebSocket"), { upgrade: "websocket" }));
  for (const [path, allow] of Object.entries(ALLOWED)) app.all(path, (c) => wrongMethod(c.req.method, allow));
  app.notFound((c) =>
    refuse(
      404,
      fault("MethodNotFound", `There is nothing at ${c.req.method} ${c.req.path.slice(0, 200)}`, {
        suggestions: ENDPOINTS,
      }),
    ),
  );
  app.onError(() => refuse(500, ownFault()));
  return app;
}

/** What may be done where, for whoever tries something else. */
const ALLOWED = {
  "/mcp": "GET, POST, DELETE",
  "/rpc": "POST",
  "/tools/:name": "POST",
  "/openapi.json": "GET",
  "/health": "GET",
  "/metrics": "GET",
};

function wrongMethod(method: string, allow: string): Response {
  const reason = `Cannot answer ${method} here: ${allow} may be used`;
  return refuse(405, fault("InvalidRequest", reason), { allow });
}

const ENDPOINTS = ["/mcp", "/rpc", "/ws", "/tools/{name}", "/openapi.json", "/health", "/metrics"];

export function healthOf({ counters, runtime }: Pick<House, "counters" | "runtime">) {
  return {
    status: "healthy",
    uptime_seconds: counters.uptimeSeconds,
    tools_count: runtime.catalog.methods.length + OWN_TOOLS.length,
    request_count: counters.requests,
  };
}

function counted({ counters }: House): MiddlewareHandler<Environment> {
  return async (c, next) => {
    await next();
    const first = `/${c.req.path.split("/")[1] ?? ""}`;
    const known = ENDPOINTS.find((endpoint) => endpoint.split("/")[1] === first.slice(1)) ?? "other";
    counters.count(known, c.res.status);
  };
}

function gated({ gate }: House): MiddlewareHandler<Environment> {
  return async (c, next) => {
    const { headers } = c.env.incoming;
    const reason = gate.refusal(c.env.incoming);
    if (reason !== undefined) return refuse(403, fault("AuthorizationError", reason));
    const cors = gate.corsHeaders(headers);
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

function inside({ door }: House): MiddlewareHandler<Environment> {
  return async (c, next) => {
    const caller = door.callerOf(c.env.incoming.headers);
    if (caller === undefined) return refuse(401, unauthenticated(), { "www-authenticate": "Bearer" });
    c.set("caller", caller);
    await next();
    return undefined;
  };
}

function readBody({ settings, door }: House): MiddlewareHandler<Environment> {
  return async (c, next) => {
    const { incoming } = c.env;
    const limit = bodyLimit(settings.bodyBytes, door.callerOf(incoming.headers) !== undefined);
    const body: Body = c.req.method === "POST" ? await readJson(incoming, limit, () => traceOf(c)) : { kind: "none" };
    if (body.kind === "unfit") return refuse(body.status, body.fault);
    c.set("body", body);
    await next();
    return undefined;
  };
}

/** Errors of every endpoint look as those of JSON-RPC do. */
function refuse(status: number, error: Fault, headers: Readonly<Record<string, string>> = {}): Response {
  return Response.json({ jsonrpc: "2.0", id: null, error }, { status, headers });
}

async function answerMcp(c: Context<Environment>, { mcp, settings, traffic }: House): Promise<Response> {
  const body = c.get("body");
  const { incoming, outgoing } = c.env;
  if (c.req.method === "POST" && body.kind === "none") return emptyBody(traceOf(c));
  const flaw = body.kind === "json" && Array.isArray(body.value) ? batchFlaw(body.value) : undefined;
  if (flaw !== undefined) return refuse(400, fault("InvalidRequest", flaw));
  const wanted = wantedExposure(c.req.query("expose") ?? c.req.header("x-skillgate-expose"));
  if (wanted === undefined)
    return refuse(
      400,
      fault("InvalidRequest", `expose must be ${EXPOSES.join(", ")}`, { field: "expose", suggestions: EXPOSES }),
    );
  if (isListening(body)) traffic.listens(outgoing);
  const exchange = {
    request: c.req.raw,
    body: body.kind === "json" ? body.value : undefined,
    onEnd: (listener: (wasSent: boolean) => void) =>
      void outgoing.once("close", () => listener(outgoing.writableFinished && !incoming.aborted)),
    respond: incoming.headers.origin === undefined ? respondAtOnce(outgoing) : respondAsJson,
  };
  const expose = wanted === "default" ? settings.expose : wanted;
  const { names, budgetTokens } = settings;
  const response = await mcp.fetch(exchange, { caller: c.get("caller"), exposure: { expose, names, budgetTokens } });
  response.headers.delete("connection"); // whether it is kept is for the client and Node to say
  return response;
}

function emptyBody(trace_id: string): Response {
  return refuse(400, fault("ParseError", "Cannot read a body that is empty", { trace_id }));
}

function respondAsJson(json: string, status: number, headers: Readonly<Record<string, string>>): Response {
  return new Response(json, { status, headers: { "content-type": "application/json", ...headers } });
}

/** Half of the time that a short answer takes is that of a response and its streams; no page of a browser waits for this. */
function respondAtOnce(outgoing: HttpBindings["outgoing"]): typeof respondAsJson {
  return (json, status, headers) => {
    if (outgoing.destroyed) return SENT; // nobody reads it
    const length = String(Buffer.byteLength(json));
    outgoing.writeHead(status, { "content-type": "application/json", "content-length": length, ...headers }).end(json);
    return status === 200 ? SENT : new Response(null, { status, headers: ALREADY_SENT });
  };
}

const ALREADY_SENT = { "x-hono-already-sent": "true" };

const SENT = new Response(null, { headers: ALREADY_SENT });

/** In the protocol of 2026, clients hear of changes on the stream of such a request. */
function isListening(body: Body): boolean {
  return body.kind === "json" && isRecord(body.value) && body.value["method"] === "subscriptions/listen";
}

function wantedExposure(text: string | undefined): Expose | "default" | undefined {
  return text === undefined ? "default" : EXPOSES.find((expose) => expose === text);
}

async function answerAtRpc(c: Context<Environment>, house: House): Promise<Response> {
  const body = c.get("body");
  const traceId = traceOf(c);
  if (body.kind !== "json") return emptyBody(traceId);
  const { headers } = c.env.incoming;
  const known = house.door.callerOf(headers);
  const controller = new AbortController();
  const { outgoing } = c.env;
  outgoing.once("close", () => controller.abort());
  const desk: RpcDesk = {
    programs: { runtime: house.runtime, records: house.mcp.records, upstream: house.mcp.upstream },
    callerOf: ({ message }) => known ?? house.door.callerOfMessage(message),
    signal: controller.signal,
    health: () => healthOf(house),
  };
  if (accepts(headers, "text/event-stream")) return streamRpc(body.value, desk, controller, traceId);
  const answer = await answerRpc(body.value, performAt(desk), traceId);
  return answer === undefined ? c.body(null, 204) : c.json(answer as object);
}

/** The same, with what calls say on the way, and large results in parts. */
function streamRpc(value: unknown, desk: RpcDesk, controller: AbortController, traceId: string): Response {
  const stream = openEventStream(() => controller.abort());
  const emit = (message: unknown): void => stream.send("message", message);
  const followed = {
    ...desk,
    followerOf: ({ id }: { readonly id?: string | number | null | undefined }) => followerTo(id, emit),
  };
  void answerRpc(value, performAt(followed), traceId)
    .then((answer) => answer !== undefined && emitAnswer(answer, emit))
    .catch(() => emit(ownFaultAnswer(traceId)))
    .finally(() => stream.end());
  return stream.response;
}

async function answerToolRoute(c: Context<Environment>, { runtime, mcp }: House): Promise<Response> {
  const body = c.get("body");
  const controller = new AbortController();
  const { outgoing, incoming } = c.env;
  outgoing.once("close", () => controller.abort());
  const programs = { runtime, records: mcp.records, upstream: mcp.upstream, caller: c.get("caller") };
  const input = body.kind === "json" ? body.value : {};
  return answerTool(programs, c.req.param("name") ?? "", input, {
    signal: controller.signal,
    traceId: traceOf(c),
    streams: accepts(incoming.headers, "text/event-stream"),
  });
}

function accepts({ accept = "" }: IncomingHttpHeaders, type: string): boolean {
  return accept.includes(type) && !accept.includes("application/json");
}

/** The trace of a W3C `traceparent`, else a new one. */
function traceOf(c: Context<Environment>): string {
  return /^00-([0-9a-f]{32})-[0-9a-f]{16}-[0-9a-f]{2}$/.exec(c.req.header("traceparent") ?? "")?.[1] ?? newTraceId();
}
