import type { IncomingMessage } from "node:http";
import { setImmediate } from "node:timers/promises";

import { getMessage, sentence, SkillgateError } from "../../errors.ts";
import { type RpcError, rpcError } from "../../shared/rpc-errors.ts";
import type { Caller } from "../../model/caller.ts";
import { type BodyMemory, type BodyShare, createBodyMemory } from "../../shared/http/body-memory.ts";
import { createGrowingBuffer, readFlowing } from "../../shared/http/growing-buffer.ts";
import { findShapeExcess } from "../../shared/json/json-shape.ts";
import { encodeUtf8 } from "../../shared/json/utf8.ts";
import { MAX_UNAUTHENTICATED_BYTES } from "./auth/unauthenticated.ts";
import { quote } from "../../shared/format-text.ts";

/** A parsed request body, or the error that rejects it. */
export type Body =
  | { readonly kind: "json"; readonly value: unknown }
  | { readonly kind: "none" }
  | { readonly kind: "unfit"; readonly status: 400 | 413 | 415 | 503; readonly fault: RpcError };

/** The largest body that is read, and the suggestion for a larger one. */
export interface BodyLimit {
  readonly bytes: number;
  readonly fix: string;
  /** Opens the memory of a large body; absent if there are only small ones. */
  readonly open?: (giveUp: () => void) => BodyShare;
}

/** The number of bodies of the largest size that may arrive at once; a quarter of them from one caller. */
const MAX_LARGEST_BODIES = 128;

/** Creates the memory for the bodies of callers. Those that strangers may send are small, and limited by the number of connections. */
export function createCallerBodies(bodyBytes: number): BodyMemory {
  return createBodyMemory({
    smallBytes: MAX_UNAUTHENTICATED_BYTES,
    totalSmallBytes: Infinity,
    totalLargeBytes: MAX_LARGEST_BODIES * bodyBytes,
  });
}

/** Returns a lower limit for bodies that are read before their sender is authenticated. */
export function bodyLimit(bodyBytes: number, bodies: BodyMemory, caller: Caller | undefined): BodyLimit {
  if (caller !== undefined || bodyBytes <= MAX_UNAUTHENTICATED_BYTES)
    return {
      bytes: bodyBytes,
      fix: "Send a smaller body, or raise server.bodyBytes in settings.yaml",
      ...(caller && { open: (giveUp) => bodies.open(caller.id, giveUp) }),
    };
  const fix = "Send the token in the Authorization header: a body that carries its own token has a lower limit";
  return { bytes: MAX_UNAUTHENTICATED_BYTES, fix };
}

/**
 * Reads the JSON of a request. A body over the limit is discarded but read to its end: a client reads only after it has
 * written.
 */
export async function readJson(
  incoming: IncomingMessage,
  limit: BodyLimit,
  traceId: () => string,
  parse: (text: string) => unknown = JSON.parse,
): Promise<Body> {
  const bytes = await readBytes(incoming, limit.bytes, limit.open);
  if (bytes === "busy") return unfit(503, traceId, MANY_BODIES, "Send the request again");
  if (bytes === undefined) return unfit(413, traceId, `The body exceeds the limit of ${limit.bytes} bytes`, limit.fix);
  if (bytes.length === 0) return { kind: "none" };
  const { "content-type": type, "content-encoding": encoding = "identity" } = incoming.headers;
  if (!isJson(type))
    return unfit(
      415,
      traceId,
      "The Content-Type of the body is not application/json",
      "Send the header Content-Type: application/json",
    );
  if (encoding !== "identity")
    return unfit(
      415,
      traceId,
      `The Content-Encoding of the body is not supported: ${quote(encoding, 50)}`,
      "Send the body without a Content-Encoding",
    );
  const text = encodeUtf8(bytes);
  if (text === undefined) return unfit(400, traceId, "The body is not valid UTF-8");
  const excess = findShapeExcess(text);
  if (excess !== undefined) return unfit(413, traceId, `The body has ${excess}`, SHAPE_FIX);
  try {
    const value = parse(text);
    // To parse a large body and to answer it are two turns of the event loop.
    if (text.length > LARGE_UNITS) await setImmediate();
    return { kind: "json", value };
  } catch (error) {
    return unfit(400, traceId, "The body is not valid JSON", getMessage(error));
  }
}

/** Reads the fields of a form that a browser sends; `undefined` for another body, and for one over the limit. */
export async function readForm(incoming: IncomingMessage, maxBytes: number): Promise<URLSearchParams | undefined> {
  const bytes = await readBytes(incoming, maxBytes);
  const isForm = /^application\/x-www-form-urlencoded\s*(?:;|$)/i.test(incoming.headers["content-type"] ?? "");
  const text = bytes instanceof Buffer && isForm ? encodeUtf8(bytes) : undefined;
  return text === undefined ? undefined : new URLSearchParams(text);
}

const LARGE_UNITS = 64 << 10;

const SHAPE_FIX = "Send a list of pairs instead of an object with that many names, and flat data";

/** Bodies that were read before their requests reached a route. */
const readBodies = new WeakMap<IncomingMessage, Buffer>();

/** Reads the body of a request that another module answers: its reader gets the same bytes. */
export async function readAhead(incoming: IncomingMessage): Promise<void> {
  const bytes = await readBytes(incoming, Number.MAX_SAFE_INTEGER);
  if (bytes instanceof Buffer) readBodies.set(incoming, bytes);
}

/** Returns the bytes of a body; `undefined` for one over the limit, and `busy` if other bodies need its memory. */
async function readBytes(
  incoming: IncomingMessage,
  maxBytes: number,
  open?: BodyLimit["open"],
): Promise<Buffer | "busy" | undefined> {
  const stored = readBodies.get(incoming);
  if (stored !== undefined) return stored.length > maxBytes ? undefined : stored;
  let isBusy = false;
  const giveUp = (): void => {
    isBusy = true;
    content.clear();
    share?.release();
  };
  const share = open?.(giveUp);
  const content = createGrowingBuffer({ bytes: maxBytes }, (size) => share?.resize(size) ?? true);
  let length = 0;
  try {
    // Node's requestTimeout ends a request that takes too long to arrive.
    await readFlowing(incoming, (chunk) => {
      length += chunk.length;
      if (length > maxBytes) content.clear();
      else if (!isBusy && !content.append(chunk)) giveUp();
    });
  } catch (error) {
    const why = `its connection ended before the whole body had arrived (${getMessage(error)})`;
    throw new SkillgateError("REQUEST_INVALID", sentence("REQUEST_INVALID", why), {}, { cause: error });
  } finally {
    share?.release();
  }
  if (length > maxBytes) return undefined;
  return isBusy ? "busy" : content.get();
}

export const MANY_BODIES = "Too many large requests of this caller, or of all, arrive at once";

function isJson(contentType = ""): boolean {
  return /^application\/(?:[\w.-]+\+)?json\s*(?:;|$)/i.test(contentType.trim());
}

function unfit(
  status: 400 | 413 | 415 | 503,
  traceId: () => string,
  reason: string,
  ...suggestions: readonly string[]
): Body {
  const kind = status === 400 ? "ParseError" : status === 503 ? "InternalError" : "InvalidRequest";
  return { kind: "unfit", status, fault: rpcError(kind, reason, { trace_id: traceId(), suggestions }) };
}
