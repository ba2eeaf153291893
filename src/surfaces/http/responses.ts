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
