import type { IncomingHttpHeaders } from "node:http";
import type { Context } from "hono";

import { newTraceId, type RpcError, rpcError } from "../../shared/rpc-errors.ts";
import { getTraceIds } from "../../telemetry/index.ts";
import type { RouteEnvironment } from "./services.ts";

/** Creates an error response of an endpoint that speaks JSON-RPC. */
export function refuse(status: number, error: RpcError, headers: Readonly<Record<string, string>> = {}): Response {
  return Response.json({ jsonrpc: "2.0", id: null, error }, { status, headers });
}

/** Creates an error response as RFC 9457 describes it, which all other endpoints use. */
export function refuseAsProblem(
  status: number,
  fault: RpcError,
  { headers = {}, members = {} }: ProblemParts = {},
): Response {
  const { error_type, reason, suggestions } = fault.data;
  const type = `urn:skillgate:error:${error_type}`;
  const problem = { type, title: fault.message, status, detail: reason, suggestions, ...members, fault };
  return Response.json(problem, { status, headers: { "content-type": "application/problem+json", ...headers } });
}

interface ProblemParts {
  readonly headers?: Readonly<Record<string, string>>;
  /** Further members of the problem. */
  readonly members?: Readonly<Record<string, unknown>>;
}

/** Creates an error response in the format of the endpoint at a path. */
export function refuseAt(
  path: string,
  status: number,
  error: RpcError,
  headers: Readonly<Record<string, string>> = {},
): Response {
  return JSON_RPC_PATHS.has(path) || path.startsWith("/mcp/")
    ? refuse(status, error, headers)
    : refuseAsProblem(status, error, { headers });
}

const JSON_RPC_PATHS: ReadonlySet<string> = new Set(["/mcp", "/rpc"]);

export function emptyBody(trace_id: string): Response {
  return refuse(400, rpcError("ParseError", "The body is empty", { trace_id }));
}

export function accepts({ accept = "" }: IncomingHttpHeaders, type: string): boolean {
  return accept.includes(type) && !accept.includes("application/json");
}

/** Returns the id of the trace that the request is part of: by its span, by its header `traceparent`, or a new one. */
export function getTraceId(c: Context<RouteEnvironment>): string {
  const ids = getTraceIds();
  if (ids !== undefined) return ids.trace_id;
  return /^00-([0-9a-f]{32})-[0-9a-f]{16}-[0-9a-f]{2}$/.exec(c.req.header("traceparent") ?? "")?.[1] ?? newTraceId();
}

/** Returns the trace of a request as a detail of the error that answers it. */
export function inTrace(c: Context<RouteEnvironment>): { readonly trace_id: string } {
  return { trace_id: getTraceId(c) };
}

/** Answers a request with JSON. */
export type RespondJson = (json: string, status?: number, headers?: Readonly<Record<string, string>>) => Response;

/**
 * Creates the function that answers a request. It writes the answer without a `Response` and its streams, which halves the time of a
 * short one. Browsers get a `Response`, for CORS.
 */
export function createResponder({ env: { incoming, outgoing } }: Context<RouteEnvironment>): RespondJson {
  if (incoming.headers.origin !== undefined) return respondAsJson;
  return (json, status = 200, headers = {}) => {
    if (outgoing.destroyed) return SENT; // the client has gone
    const length = String(Buffer.byteLength(json));
    outgoing.writeHead(status, { "content-type": "application/json", "content-length": length, ...headers }).end(json);
    return status === 200 ? SENT : new Response(null, { status, headers: ALREADY_SENT });
  };
}

const respondAsJson: RespondJson = (json, status = 200, headers = {}) =>
  new Response(json, { status, headers: { "content-type": "application/json", ...headers } });

const ALREADY_SENT = { "x-hono-already-sent": "true" };

const SENT = new Response(null, { headers: ALREADY_SENT });

/** Creates a controller that aborts when the client goes before it has its answer. */
export function abortWithClient({ env: { outgoing } }: Context<RouteEnvironment>): AbortController {
  const controller = new AbortController();
  outgoing.once("close", () => {
    if (!outgoing.writableFinished) controller.abort();
  });
  return controller;
}
