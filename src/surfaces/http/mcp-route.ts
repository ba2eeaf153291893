import type { Context } from "hono";

import { isRecord } from "../../model/json.ts";
import { rpcError, toRpcError } from "../../shared/rpc-errors.ts";
import { createRequestValues } from "../../model/requests/request-values.ts";
import { type Expose, EXPOSES, findMethodCall, type Principal, selectProfile } from "../mcp/index.ts";
import { findScopeChallenge } from "./auth/challenge.ts";
import type { Body } from "./body.ts";
import { findBatchFlaw, type RpcId } from "../../shared/json/json-rpc.ts";
import { createResponder, emptyBody, getTraceId, inTrace, refuse } from "./responses.ts";
import type { HttpServices, RouteEnvironment } from "./services.ts";

/** Answers requests to the MCP endpoint. */
export async function answerMcp(c: Context<RouteEnvironment>, services: HttpServices): Promise<Response> {
  const { mcp, runtime, settings, inFlight } = services;
  const body = c.get("body");
  const { incoming, outgoing } = c.env;
  if (c.req.method === "POST" && body.kind === "none") return emptyBody(getTraceId(c));
  const flaw = body.kind === "json" && Array.isArray(body.value) ? findBatchFlaw(body.value) : undefined;
  if (flaw !== undefined) return refuse(400, rpcError("InvalidRequest", flaw, inTrace(c)));
  const exposure = wantedExposure(c.req.query("expose") ?? c.req.header("x-skillgate-expose"));
  if (exposure === undefined)
    return refuse(
      400,
      rpcError("InvalidRequest", `expose must be ${EXPOSES.join(", ")}`, {
        field: "expose",
        suggestions: EXPOSES,
        ...inTrace(c),
      }),
    );
  if (isListening(body)) inFlight.untrack(outgoing);
  const exchange = {
    request: c.req.raw,
    body: body.kind === "json" ? body.value : undefined,
    onEnd: (listener: (wasSent: boolean) => void) =>
      void outgoing.once("close", () => listener(outgoing.writableFinished && !incoming.aborted)),
    respond: createResponder(c),
  };
  const { expose, names, budgetTokens } = settings;
  const life = c.get("life");
  const whole = {
    caller: c.get("caller"),
    exposure: { expose, names, budgetTokens },
    requestValues: createRequestValues(c.req.raw.headers),
    ...(life && { life }),
  };
  const profile = c.req.param("profile");
  const selected = profile === undefined ? whole : await selectProfile(runtime, whole, profile);
  if ("message" in selected)
    return refuse(404, rpcError("MethodNotFound", selected.message, { suggestions: selected.names, ...inTrace(c) }));
  const principal =
    exposure === "default" ? selected : { ...selected, exposure: { ...selected.exposure, expose: exposure } };
  const refused = await refuseMissingScopes(exchange.body, principal, services, inTrace(c));
  if (refused !== undefined) return refused;
  const response = await mcp.fetch(exchange, principal);
  response.headers.delete("connection"); // the client and Node decide whether the connection stays open
  return response;
}

/** Answers a call of a tool whose method requires further scopes with the challenge that lets clients ask for them. */
async function refuseMissingScopes(
  message: unknown,
  { caller, exposure }: Principal,
  { runtime, challenge }: HttpServices,
  trace: ReturnType<typeof inTrace>,
): Promise<Response | undefined> {
  const call = findToolCall(message);
  const view = runtime.viewFor(caller);
  const called = call && findMethodCall(view.catalog, exposure, call);
  if (call === undefined || called === undefined) return undefined;
  const { method, args } = called;
  if (!view.lacksScopes(method)) return undefined;
  // The guards refuse the call before anything else, and record it.
  const error = await view.call(method.path, args).then(
    () => undefined,
    (thrown: unknown) => toRpcError(thrown, call.name, trace),
  );
  const headers = error && findScopeChallenge(error, challenge());
  if (headers === undefined) return undefined;
  return Response.json({ jsonrpc: "2.0", id: call.id, error }, { status: 403, headers });
}

interface IncomingToolCall {
  readonly id: RpcId;
  readonly name: string;
  readonly args: Readonly<Record<string, unknown>>;
}

function findToolCall(message: unknown): IncomingToolCall | undefined {
  if (!isRecord(message) || message["method"] !== "tools/call" || !isRecord(message["params"])) return undefined;
  const { id } = message;
  const { name, arguments: args = {} } = message["params"];
  if (typeof name !== "string" || !isRecord(args) || (typeof id !== "string" && typeof id !== "number"))
    return undefined;
  return { id, name, args };
}

/** True for the request on whose stream the 2026 protocol sends change notifications. */
function isListening(body: Body): boolean {
  return body.kind === "json" && isRecord(body.value) && body.value["method"] === "subscriptions/listen";
}

function wantedExposure(text: string | undefined): Expose | "default" | undefined {
  return text === undefined ? "default" : EXPOSES.find((expose) => expose === text);
}
