import type { JSONRPCErrorResponse, JSONRPCMessage, RequestId } from "@modelcontextprotocol/server";

import { sentence } from "../../../errors.ts";
import { isRecord } from "../../../model/json.ts";
import { errorAnswer } from "../rpc-error.ts";

/** The requests of a connection that have no answer yet. */
export interface OpenRequests {
  /** Whether a request with this id has no answer yet. */
  has(id: RequestId): boolean;
  /** A request has come in. */
  began(id: RequestId): void;
  /** Takes note of what comes in; returns the answer to a request that this message has cancelled. */
  received(message: JSONRPCMessage): JSONRPCMessage | undefined;
  /** Takes note of what goes out; false for a second answer to one request. */
  sent(message: JSONRPCMessage): boolean;
  /** Settles when every request has been answered, or nobody waits for answers any more. */
  answered(): Promise<void>;
  /** Ids of the requests that have no answer; they will get none from elsewhere. */
  giveUp(): readonly RequestId[];
}

/** A cancelled request is answered, too: whoever waits on its stream would else wait for ever. */
export function createOpenRequests(): OpenRequests {
  const ids = new Set<RequestId>();
  const waiting: (() => void)[] = [];

  function settle(id: RequestId): boolean {
    const was = ids.delete(id);
    if (ids.size === 0) for (const resolve of waiting.splice(0)) resolve();
    return was;
  }

  return {
    has: (id) => ids.has(id),
    began: (id) => void ids.add(id),
    received(message) {
      if ("method" in message && "id" in message) ids.add(message.id);
      const id = cancelledBy(message);
      return id !== undefined && settle(id) ? cancelledAnswer(id) : undefined;
    },
    sent(message) {
      if ("method" in message || message.id === undefined || message.id === null) return true;
      return settle(message.id);
    },
    answered: () => (ids.size === 0 ? Promise.resolve() : new Promise((resolve) => waiting.push(resolve))),
    giveUp() {
      const left = [...ids];
      for (const id of left) settle(id);
      return left;
    },
  };
}

/** The request that a message cancels. */
export function cancelledBy(message: JSONRPCMessage): RequestId | undefined {
  if (!("method" in message) || message.method !== "notifications/cancelled") return undefined;
  const id = message.params?.["requestId"];
  return typeof id === "string" || typeof id === "number" ? id : undefined;
}

/** A message that must be answered, as far as one can see before it is read. */
export function isRequest(message: unknown): message is { readonly id: RequestId; readonly method: string } {
  if (!isRecord(message) || typeof message["method"] !== "string") return false;
  return typeof message["id"] === "string" || typeof message["id"] === "number";
}

/** What a request gets whose id another one has that is still under way. */
export function createTakenAnswer(id: RequestId): JSONRPCErrorResponse {
  const shown = JSON.stringify(id).slice(0, 100);
  const reason = `Cannot take a second request with the id ${shown}: the first one is under way, and each needs an id of its own`;
  return errorAnswer("InvalidRequest", reason, id);
}

/** Why a request is answered with nothing but that it was cancelled. */
export type Cause = "the client cancelled its request" | "the session has ended" | "the server ends";

/** Whoever waits for the answer to a request that was cancelled gets this one. */
export function cancelledAnswer(id: RequestId, cause: Cause = "the client cancelled its request"): JSONRPCMessage {
  return errorAnswer("ToolExecution", sentence("CANCELLED", cause), id);
}
