import type { JSONRPCErrorResponse, JSONRPCMessage, RequestId } from "@modelcontextprotocol/server";

import { stringifyExactly } from "../../shared/json/exact-json.ts";
import { type RpcErrorKind, rpcError } from "../../shared/rpc-errors.ts";

/** Creates an error response to a message that does not reach the SDK. */
export function errorAnswer(
  kind: RpcErrorKind,
  reason: string,
  id?: RequestId,
  suggestions: readonly string[] = [],
): JSONRPCErrorResponse {
  // JSON-RPC wants null where the id of a request could not be read; the SDK's type does not know that.
  return { jsonrpc: "2.0", id: (id ?? null) as RequestId, error: rpcError(kind, reason, { suggestions }) };
}

/** Serializes a message, with the digits of its BigInts. A result that JSON cannot represent is replaced by an error response. */
export function messageText(message: JSONRPCMessage): string {
  try {
    return stringifyExactly(message);
  } catch {
    const id = "id" in message ? message.id : undefined;
    return JSON.stringify(errorAnswer("InternalError", "The result cannot be written as JSON", id));
  }
}
