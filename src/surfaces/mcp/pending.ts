import {
  isJSONRPCErrorResponse,
  isJSONRPCNotification,
  isJSONRPCRequest,
  isJSONRPCResultResponse,
  type JSONRPCMessage,
  type RequestId,
} from "@modelcontextprotocol/server";

import { sentence } from "../../errors.ts";
import { errorAnswer } from "./rpc-error.ts";

/** The requests of a connection that have no answer yet. */
export interface Pending {
  /** Takes note of what comes in; returns the answer to a request that this message has cancelled. */
  received(message: JSONRPCMessage): JSONRPCMessage | undefined;
  /** Takes note of what goes out; false for a second answer to one request. */
  sent(message: JSONRPCMessage): boolean;
  /** Settles when every request has been answered. */
  answered(): Promise<void>;
}

/** A cancelled request is answered, too: whoever waits on its stream would else wait for ever. */
export function createPending(): Pending {
  const ids = new Set<RequestId>();
  const waiting: (() => void)[] = [];

  function settle(id: RequestId): boolean {
    const was = ids.delete(id);
    if (ids.size === 0) for (const resolve of waiting.splice(0)) resolve();
    return was;
  }

  return {
    received(message) {
      if (isJSONRPCRequest(message)) ids.add(message.id);
      if (!isJSONRPCNotification(message) || message.method !== "notifications/cancelled") return undefined;
      const id = (message.params as { readonly requestId?: RequestId } | undefined)?.requestId;
      if (id === undefined || !settle(id)) return undefined;
      return errorAnswer("ToolExecution", sentence("CANCELLED", "the client cancelled its request"), id);
    },
    sent(message) {
      const isAnswer = isJSONRPCResultResponse(message) || isJSONRPCErrorResponse(message);
      return !isAnswer || message.id === undefined || message.id === null || settle(message.id);
    },
    answered: () => (ids.size === 0 ? Promise.resolve() : new Promise((resolve) => waiting.push(resolve))),
  };
}
