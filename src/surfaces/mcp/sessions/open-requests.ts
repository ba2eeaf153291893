import type { JSONRPCErrorResponse, JSONRPCMessage, RequestId } from "@modelcontextprotocol/server";

import { sentence } from "../../../errors.ts";
import { createCancelReason, type CredentialEnd } from "../../../model/credential.ts";
import { createLostReason } from "./lost-client.ts";
import { isRecord } from "../../../model/json.ts";
import { errorAnswer } from "../rpc-error.ts";
import { truncateText } from "../../../shared/format-text.ts";

/** Tracks the unanswered requests of a connection. */
export interface OpenRequests {
  /** Whether a request with this id is unanswered. */
  has(id: RequestId): boolean;
  /** Records a new request. */
  began(id: RequestId): void;
  /** Records an incoming message; returns the answer to the request that it cancels. */
  received(message: JSONRPCMessage): JSONRPCMessage | undefined;
  /** Records an outgoing message; false for a second answer to the same request. */
  sent(message: JSONRPCMessage): boolean;
  /** Settles when every request is answered or given up. */
  answered(): Promise<void>;
  /** Forgets the unanswered requests and returns their ids; the caller must answer them. */
  giveUp(): readonly RequestId[];
}

/** Answers cancelled requests, too: a client that waits on their stream would otherwise wait forever. */
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
      const openIds = [...ids];
      for (const id of openIds) settle(id);
      return openIds;
    },
  };
}

/** Returns the id of the request that a message cancels. */
export function cancelledBy(message: JSONRPCMessage): RequestId | undefined {
  if (!("method" in message) || message.method !== "notifications/cancelled") return undefined;
  const id = message.params?.["requestId"];
  return typeof id === "string" || typeof id === "number" ? id : undefined;
}

/** Checks for a request that needs an answer, before the message is validated. */
export function isRequest(message: unknown): message is { readonly id: RequestId; readonly method: string } {
  if (!isRecord(message) || typeof message["method"] !== "string") return false;
  return typeof message["id"] === "string" || typeof message["id"] === "number";
}

/** Answers a request whose id belongs to another request in progress. */
export function createTakenAnswer(id: RequestId): JSONRPCErrorResponse {
  const shortId = truncateText(JSON.stringify(id), 100);
  const reason = `The request id ${shortId} is already in use by a request in progress. Use another id`;
  return errorAnswer("InvalidRequest", reason, id);
}

/** Why a request was cancelled. */
export type Cause =
  | "the client cancelled its request"
  | "the connection is gone"
  | "the session has ended"
  | "the server ends"
  | CredentialEnd;

/** Returns the reason with which the work of a request is cancelled. */
export function toCancelReason(cause: Cause): Error | undefined {
  switch (cause) {
    case "the connection is gone":
    case "the session has ended":
    case "the server ends":
      return createLostReason(cause);
    case "the client cancelled its request":
      return undefined;
    case "the key was revoked":
    case "the key has expired":
    case "the key has a new secret":
      return createCancelReason(cause);
  }
}

/** Creates the answer to a cancelled request. */
export function cancelledAnswer(id: RequestId, cause: Cause = "the client cancelled its request"): JSONRPCMessage {
  return errorAnswer("ToolExecution", sentence("CANCELLED", cause), id);
}
