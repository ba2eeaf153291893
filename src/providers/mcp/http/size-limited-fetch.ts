import { setMaxListeners } from "node:events";
import type { FetchLike } from "@modelcontextprotocol/client";

import { isRecord } from "../../../model/json.ts";
import { fetchSameServer } from "../../../shared/http/fetch-same-server.ts";
import { OVERLONG_ANSWER } from "../connections/wire-errors.ts";

/** `fetch` that turns a body of more than `maxBytes` into an error of the request that it answers. Events have no limit here. */
export function sizeLimitedFetch(maxBytes: number): FetchLike {
  return async (url, init) => {
    const { signal, unlink } = linkSignal(init?.signal ?? undefined);
    const response = await fetchSameServer(url, { ...init, signal }).catch((thrown: unknown) => {
      unlink();
      throw thrown;
    });
    const isEvents = (response.headers.get("content-type") ?? "").toLowerCase().startsWith("text/event-stream");
    const { body, status, statusText, headers } = response;
    const limited = new Response(
      body && isEvents
        ? passEvents(body, unlink)
        : await limitBody(body, maxBytes, () => getRequestId(init?.body)).finally(unlink),
      { status, statusText, headers },
    );
    // A new response has neither.
    return Object.defineProperties(limited, {
      url: { value: response.url },
      redirected: { value: response.url !== new URL(url).href },
    });
  };
}

/**
 * Follows a signal for one request. `fetch` leaves its listener on a signal until the next garbage collection, and the SDK
 * has one signal for all requests; `AbortSignal.any` takes a tenth of a short request.
 */
function linkSignal(source: AbortSignal | undefined): { readonly signal: AbortSignal; readonly unlink: () => void } {
  const controller = new AbortController();
  const abort = (): void => controller.abort(source?.reason);
  if (source?.aborted === true) abort();
  if (source) setMaxListeners(0, source); // one listener for each concurrent request
  source?.addEventListener("abort", abort);
  return { signal: controller.signal, unlink: () => source?.removeEventListener("abort", abort) };
}

export type MessageId = string | number | undefined;

/** Returns the id of the single request in a body; `undefined` for a batch. */
export function getRequestId(body: unknown): MessageId {
  if (typeof body !== "string") return undefined;
  const message: unknown = JSON.parse(body);
  const id = isRecord(message) ? message["id"] : undefined;
  return typeof id === "string" || typeof id === "number" ? id : undefined;
}

/** Reads a single-message answer to its end: a part that has been passed on cannot be replaced. */
async function limitBody(
  body: ReadableStream<Uint8Array> | null,
  maxBytes: number,
  requestId: () => MessageId,
): Promise<Buffer<ArrayBuffer> | string | null> {
  if (body === null) return null;
  const chunks: Uint8Array[] = [];
  let bytes = 0;
  for await (const chunk of body) {
    bytes += chunk.length;
    if (bytes > maxBytes) return createOverlongAnswer(requestId(), `more than ${maxBytes} bytes`);
    chunks.push(chunk);
  }
  return Buffer.concat(chunks);
}

/** Passes events on as they arrive. */
function passEvents(body: ReadableStream<Uint8Array>, unlink: () => void): ReadableStream<Uint8Array> {
  const passed = new TransformStream<Uint8Array, Uint8Array>();
  void body.pipeTo(passed.writable).then(unlink, unlink); // the reader of the response gets its errors
  return passed.readable;
}

/** Returns the message that takes the place of an answer with too much of something. */
export function createOverlongAnswer(id: MessageId, excess: string): string {
  const error = { code: OVERLONG_ANSWER, message: `the answer has ${excess}` };
  return JSON.stringify({ jsonrpc: "2.0", id: id ?? null, error });
}
