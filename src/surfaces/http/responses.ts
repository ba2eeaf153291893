import type { IncomingHttpHeaders } from "node:http";
import type { Context } from "hono";

import { newTraceId, type RpcError, rpcError } from "../../shared/rpc-errors.ts";
import { getTraceIds } from "../../telemetry/index.ts";
import type { RouteEnvironment } from "./services.ts";

/** Creates an error response; every endpoint uses the JSON-RPC error format. */
export function refuse(status: number, error: RpcError, headers: Readonly<Record<string, string>> = {}): Response {
  return Response.json({ jsonrpc: "2.0", id: null, error }, { status, headers });
}

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
