import { isRecord } from "../../../model/json.ts";

/** A request that may be answered before the program is loaded. */
export interface OpeningRequest {
  readonly id: string | number;
  readonly method: unknown;
  readonly params: unknown;
}

/** Parses a JSON-RPC message; `undefined` for a notification, and for everything that is not a single valid request. */
export function parseRequest(message: unknown): OpeningRequest | undefined {
  if (!isRecord(message) || message["jsonrpc"] !== "2.0") return undefined;
  const { id, method, params } = message;
  return typeof id === "string" || Number.isSafeInteger(id) ? { id: id as string | number, method, params } : undefined;
}
