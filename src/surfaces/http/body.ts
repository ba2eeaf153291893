import type { IncomingMessage } from "node:http";

import { getMessage } from "../../errors.ts";
import { type RpcError, rpcError } from "../../shared/rpc-errors.ts";
import { encodeUtf8 } from "../mcp/index.ts";
import { MAX_UNAUTHENTICATED_BYTES } from "./unauthenticated.ts";

/** A body as it was sent, or why it cannot be taken. */
export type Body =
  | { readonly kind: "json"; readonly value: unknown }
  | { readonly kind: "none" }
  | { readonly kind: "unfit"; readonly status: 400 | 413 | 415; readonly fault: RpcError };

/** How large a body may be, and what helps if it is larger. */
export interface BodyLimit {
  readonly bytes: number;
  readonly fix: string;
}

/** A body that is read before its token was seen could be anybody's. */
export function bodyLimit(bodyBytes: number, isAuthenticated: boolean): BodyLimit {
  if (isAuthenticated || bodyBytes <= MAX_UNAUTHENTICATED_BYTES)
    return { bytes: bodyBytes, fix: "Send less at once; server.bodyBytes in settings.yaml is the limit" };
  const fix = "Send the token in the header Authorization: a body that brings its own must be small";
  return { bytes: MAX_UNAUTHENTICATED_BYTES, fix };
}

/** Reads the JSON of a request. What is too large is not kept, but read to its end: a client that writes hears nothing. */
export async function readJson(incoming: IncomingMessage, limit: BodyLimit, traceId: () => string): Promise<Body> {
  const bytes = await readBytes(incoming, limit.bytes);
  if (bytes === undefined)
    return unfit(413, traceId, `Cannot read a body of more than ${limit.bytes} bytes`, limit.fix);
  if (bytes.length === 0) return { kind: "none" };
  const { "content-type": type, "content-encoding": encoding = "identity" } = incoming.headers;
  if (!isJson(type))
    return unfit(
      415,
      traceId,
      "Cannot read a body whose Content-Type is not application/json",
      "Send the header Content-Type: application/json",
    );
  if (encoding !== "identity")
    return unfit(
      415,
      traceId,
      `Cannot read a body whose Content-Encoding is ${JSON.stringify(encoding.slice(0, 50))}`,
      "Send the body as it is",
    );
  const text = encodeUtf8(bytes);
  if (text === undefined) return unfit(400, traceId, "Cannot read a body that is no UTF-8");
  try {
    return { kind: "json", value: JSON.parse(text) };
  } catch (error) {
    return unfit(400, traceId, "Cannot read a body that is no JSON", getMessage(error));
  }
}

async function readBytes(incoming: IncomingMessage, mostBytes: number): Promise<Buffer | undefined> {
  let chunks: Buffer[] = [];
  let length = 0;
  // Node ends a request that takes too long to arrive.
  for await (const chunk of incoming as AsyncIterable<Buffer>) {
    length += chunk.length;
    if (length > mostBytes) chunks = [];
    else chunks.push(chunk);
  }
  return length > mostBytes ? undefined : Buffer.concat(chunks);
}

function isJson(contentType = ""): boolean {
  return /^application\/(?:[\w.-]+\+)?json\s*(?:;|$)/i.test(contentType.trim());
}

function unfit(
  status: 400 | 413 | 415,
  traceId: () => string,
  reason: string,
  ...suggestions: readonly string[]
): Body {
  return {
    kind: "unfit",
    status,
    fault: rpcError(status === 400 ? "ParseError" : "InvalidRequest", reason, { trace_id: traceId(), suggestions }),
  };
}
