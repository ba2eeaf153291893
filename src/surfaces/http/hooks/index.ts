import { setTimeout as wait } from "node:timers/promises";
import type { Context } from "hono";

import type { ReceivedDelivery } from "../../../automations/index.ts";
import { rpcError, type RpcErrorKind } from "../../../shared/rpc-errors.ts";
import { createResponder, inTrace, refuseAsProblem } from "../responses.ts";
import type { HttpServices, RouteEnvironment } from "../services.ts";
import { getSenderAddress } from "./address.ts";
import { createHookLimits } from "./limits.ts";
import { createBodyReader, type RawBody } from "./raw-body.ts";

/**
 * Milliseconds after which a refusal is sent at the earliest: its time says nothing about why, so the ids of webhooks cannot be
 * found out.
 */
const REFUSAL_MS = 50;

type HookContext = Context<RouteEnvironment>;

/** Creates the handler of `POST /hooks/{id}`. Its senders have no token: they are verified by the webhook. */
export function createHookRoute({
  runtime,
  settings,
}: Pick<HttpServices, "runtime" | "settings">): (c: HookContext) => Promise<Response> {
  const hasProxy = settings.publicUrl !== "";
  const limits = createHookLimits();
  const readBody = createBodyReader();
  return async (c) => {
    const { incoming } = c.env;
    const id = c.req.param("id") ?? "";
    const address = getSenderAddress(incoming, hasProxy);
    const waitSeconds = limits.find(address);
    if (waitSeconds !== undefined) return refuse(c, 429, "InvalidRequest", TOO_MANY, waitSeconds);
    const body = await readBody(incoming, address);
    if (body.kind !== "bytes") {
      if (body.kind !== "busy") limits.count(address, false);
      return refuseBody(c, body.kind);
    }
    const secondsForBody = limits.take(address, body.bytes.length);
    if (secondsForBody !== undefined) {
      body.release();
      return refuse(c, 429, "InvalidRequest", TOO_MANY, secondsForBody);
    }
    const refusal = wait(REFUSAL_MS, undefined, { ref: false });
    const request = { headers: incoming.headersDistinct, body: body.bytes, address };
    const result = await runtime.automations.receive(id, request).finally(body.release);
    limits.count(address, result.kind !== "refused");
    if (result.kind === "refused") await refusal;
    return toResponse(c, result);
  };
}

const TOO_MANY = "Too many requests to webhooks";

function toResponse(c: HookContext, result: ReceivedDelivery): Response {
  const respond = createResponder(c);
  switch (result.kind) {
    case "stored":
      return respond(JSON.stringify({ delivery: result.delivery }), result.isRepeated ? 200 : 202);
    case "test":
      return respond(result.answer);
    case "refused":
      return refuse(c, 401, "AuthenticationError", "The id of the webhook or the signature of the request is wrong");
    case "unreadable":
      return refuse(c, 400, "InvalidRequest", result.why);
    case "full":
      return refuse(c, 503, "InternalError", "Too many deliveries wait for their runs", RETRY_SECONDS);
    case "unavailable":
      return refuse(c, 503, "InternalError", "The delivery could not be stored; send it again", RETRY_SECONDS);
  }
}

const RETRY_SECONDS = 10;

function refuseBody(c: HookContext, kind: Exclude<RawBody["kind"], "bytes">): Response {
  switch (kind) {
    case "large":
      return refuse(c, 413, "InvalidRequest", "The body of a delivery has more than 1 MB");
    case "late":
      return refuse(c, 408, "InvalidRequest", "The body of a delivery arrives too slowly");
    case "busy":
      return refuse(c, 503, "InternalError", "Too many deliveries arrive at once", RETRY_SECONDS);
    case "gone":
      return refuse(c, 400, "InvalidRequest", "The body of the delivery is incomplete");
  }
}

function refuse(c: HookContext, status: number, kind: RpcErrorKind, reason: string, retrySeconds?: number): Response {
  const headers = {
    ...(status === 401 && { "www-authenticate": "Webhook" }),
    ...(CLOSING.has(status) && { connection: "close" }),
    ...(retrySeconds !== undefined && { "retry-after": String(retrySeconds) }),
  };
  return refuseAsProblem(status, rpcError(kind, reason, inTrace(c)), { headers });
}

/** After these, a part of the body may not have been read. */
const CLOSING: ReadonlySet<number> = new Set([408, 413, 429, 503]);
