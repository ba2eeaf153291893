import type { JSONRPCErrorResponse, RequestId } from "@modelcontextprotocol/server";

import { type FaultKind, fault } from "../../fault.ts";

/** The answer to a message that the protocol's own code never sees. */
export function errorAnswer(kind: FaultKind, reason: string, id?: RequestId): JSONRPCErrorResponse {
  // JSON-RPC wants null where the id of a request could not be read; the SDK's type does not know that.
  return { jsonrpc: "2.0", id: (id ?? null) as RequestId, error: fault(kind, reason) };
}
