import type { JSONRPCErrorResponse, JSONRPCMessage, RequestId } from "@modelcontextprotocol/server";

import { type RpcErrorKind, rpcError } from "../../shared/rpc-errors.ts";

/** The answer to a message that the protocol's own code never sees. */
export function errorAnswer(
  kind: RpcErrorKind,
  reason: string,
  id?: RequestId,
  suggestions: readonly string[] = [],
): JSONRPCErrorResponse {
  // JSON-RPC wants null where the id of a request could not be read; the SDK's type does not know that.
  return { jsonrpc: "2.0", id: (id ?? null) as RequestId, error: rpcError(kind, reason, { suggestions }) };
}

/** A message as it is sent. What a method gave may be no JSON, and whoever waits for it is told so. */
export function messageText(message: JSONRPCMessage): string {
  try {
    return JSON.stringify(message);
  } catch {
    const id = "id" in message ? message.id : undefined;
    return JSON.stringify(errorAnswer("InternalError", "Cannot answer with a result that is no JSON", id));
  }
}
