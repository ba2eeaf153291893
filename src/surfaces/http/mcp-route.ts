import type { HttpBindings } from "@hono/node-server";
import type { Context } from "hono";

import { isRecord } from "../../model/json.ts";
import { rpcError } from "../../shared/rpc-errors.ts";
import { type Expose, EXPOSES } from "../mcp/index.ts";
import type { Body } from "./body.ts";
import { findBatchFlaw } from "./json-rpc.ts";
import { emptyBody, getTraceId, refuse } from "./responses.ts";
import type { HttpServices, RouteEnvironment } from "./services.ts";

/** Answers requests to the MCP endpoint. */
export async function answerMcp(
  c: Context<RouteEnvironment>,
  { mcp, settings, inFlight }: HttpServices,
): Promise<Response> {
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
  const life = c.get("life");
  const principal = { caller: c.get("caller"), exposure: { expose, names, budgetTokens }, ...(life && { life }) };
  const response = await mcp.fetch(exchange, principal);
  response.headers.delete("connection"); // the client and Node decide whether the connection stays open
  return response;
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
