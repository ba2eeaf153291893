import type { Context } from "hono";

import { createRequestValues } from "../../model/requests/request-values.ts";
import type { RpcError } from "../../shared/rpc-errors.ts";
import { openEventStream } from "../mcp/index.ts";
import type { Authentication } from "./auth/authenticate.ts";
import { findScopeChallenge, refuseSender } from "./auth/challenge.ts";
import { createObserver, emitAnswer } from "./chunking.ts";
import { answerRpc, ownFaultAnswer, type RpcResponse } from "../../shared/json/json-rpc.ts";
import { writeJson } from "../../shared/json/raw-json.ts";
import { abortWithClient, accepts, createResponder, emptyBody, getTraceId, type RespondJson } from "./responses.ts";
import { createRpcHandler, type RpcContext } from "./rpc-methods.ts";
import { createHealthReport, type HttpServices, type RouteEnvironment } from "./services.ts";

/** Answers the JSON-RPC endpoint. */
export async function answerAtRpc(c: Context<RouteEnvironment>, services: HttpServices): Promise<Response> {
  const body = c.get("body");
  const traceId = getTraceId(c);
  if (body.kind !== "json") return emptyBody(traceId);
  const { headers } = c.env.incoming;
  const sender = c.get("sender");
  const controller = abortWithClient(c);
  const context: RpcContext = {
    programs: {
      runtime: services.runtime,
      records: services.mcp.records,
      features: services.mcp.features,
      requestValues: createRequestValues(c.req.raw.headers),
    },
    authenticate: ({ message }) =>
      sender.kind === "caller" ? sender : services.authenticator.authenticateMessage(message),
    challenge: services.challenge,
    signal: controller.signal,
    health: (caller) => createHealthReport(services, caller),
  };
  if (accepts(headers, "text/event-stream")) return streamRpc(body.value, context, controller, traceId);
  const answer = await answerRpc(body.value, createRpcHandler(context), traceId);
  if (answer === undefined) return c.body(null, 204);
  const respond = createResponder(c);
  if (sender.kind !== "caller" && Array.isArray(answer) && answer.every(isUnauthenticated)) {
    const { status, headers: challenge } = refuseSender(sender, services.challenge());
    return respond(JSON.stringify(answer), status, challenge);
  }
  return "error" in answer ? answerWithError(answer, sender, services, respond) : respond(writeJson(answer));
}

function isUnauthenticated(answer: RpcResponse): boolean {
  return "error" in answer && answer.error.data.error_type === "AuthenticationError";
}

/** Answers with the status and headers that let HTTP clients log in again or wait. */
function answerWithError(
  answer: RpcResponse & { readonly error: RpcError },
  sender: Authentication,
  { challenge }: HttpServices,
  respond: RespondJson,
): Response {
  const json = JSON.stringify(answer);
  const { error_type, retry_after } = answer.error.data;
  if (sender.kind === "insufficient" || (sender.kind !== "caller" && error_type === "AuthenticationError")) {
    const { status, headers } = refuseSender(sender, challenge());
    return respond(json, status, headers);
  }
  const scopeChallenge = findScopeChallenge(answer.error, challenge());
  if (scopeChallenge !== undefined) return respond(json, 403, scopeChallenge);
  return respond(json, 200, retry_after === undefined ? {} : { "retry-after": String(Math.ceil(retry_after)) });
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
    .catch((thrown: unknown) => emit(ownFaultAnswer(thrown, traceId)))
    .finally(() => stream.end());
  return stream.response;
}
