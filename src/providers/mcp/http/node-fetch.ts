import { setMaxListeners } from "node:events";
import { Agent, type IncomingHttpHeaders, type IncomingMessage, request } from "node:http";
import type { FetchLike } from "@modelcontextprotocol/client";

import { followRedirects } from "./redirects.ts";

/** Filters a body while it arrives. */
export interface BodyFilter {
  take(chunk: Uint8Array): readonly Uint8Array[];
  /** Returns the chunks that were held back until the end. */
  end(): readonly Uint8Array[];
  /** No further chunk passes. */
  readonly isDone: boolean;
}

/**
 * `fetch` with a filter for the body of each response. Plain HTTP requests, as to local servers, use `node:http`: Node's
 * own `fetch` takes several times as long for an immediate response. All other requests use `fetch`. Redirects to another
 * server are not followed, because the request may carry credentials.
 */
export function nodeFetch(
  createFilter: (init: RequestInit | undefined, contentType: string) => BodyFilter,
  silenceMs = IDLE_TIMEOUT_MS,
): FetchLike {
  return followRedirects(async (url, init) => {
    const body = init?.body ?? undefined;
    if (url.protocol !== "http:" || (body !== undefined && typeof body !== "string")) {
      const response = await fetch(url, { ...init, redirect: "manual" });
      return applyFilter(response, (contentType) => createFilter(init, contentType));
    }
    const incoming = await exchange(url, init, body, silenceMs);
    const { statusCode: status = 0, statusMessage: statusText = "", headers } = incoming;
    const flaw = findFlaw(status, headers);
    if (flaw !== undefined) {
      incoming.destroy();
      throw new TypeError("fetch failed", { cause: new Error(flaw) });
    }
    const answer = await readBody(incoming, (contentType) => createFilter(init, contentType));
    const response = new Response(answer, { status, statusText, headers: toHeaderPairs(headers) });
    return Object.defineProperty(response, "url", { value: url.href });
  });
}

const BODILESS: ReadonlySet<number> = new Set([101, 103, 204, 205, 304]);

/** The idle timeout of Node's own `fetch`; it does not apply to event streams. */
const IDLE_TIMEOUT_MS = 300_000;

/** Returns why a response cannot be read; `undefined` if it can. */
function findFlaw(status: number, headers: IncomingHttpHeaders): string | undefined {
  if (status < 200 || status > 599) return `the server answered with an invalid status: ${status}`;
  if (status >= 300 || BODILESS.has(status)) return undefined; // only its status is read
  const encoding = headers["content-encoding"]?.trim().toLowerCase() ?? "identity";
  if (encoding === "identity" || encoding === "") return undefined;
  return `the server encoded its answer as ${JSON.stringify(encoding.slice(0, 50))}, although no encoding was requested`;
}

/** Shorter than the five seconds after which a Node server closes an idle connection. */
const IDLE_MS = 4_000;

const agent = new Agent({ keepAlive: true, timeout: IDLE_MS, maxSockets: Infinity });

/** Sends a request with `node:http`; rejects as `fetch` does. */
function exchange(
  url: URL,
  init: RequestInit | undefined,
  body: string | undefined,
  silenceMs: number,
): Promise<IncomingMessage> {
  const { method = "GET", signal } = init ?? {};
  const headers: Record<string, string> = { "accept-encoding": "identity", "user-agent": "skillgate" };
  const given = init?.headers instanceof Headers ? init.headers : new Headers(init?.headers);
  given.forEach((value, name) => (headers[name] = value));
  if (body !== undefined) headers["content-length"] = String(Buffer.byteLength(body));
  return new Promise((resolve, reject) => {
    signal?.throwIfAborted();
    const outgoing = request(url, { method, headers, agent });
    const abort = (): void => void outgoing.destroy(signal?.reason as Error);
    if (signal) setMaxListeners(0, signal); // one listener for each concurrent request
    signal?.addEventListener("abort", abort);
    const silence = setTimeout(() => outgoing.destroy(silenceError(silenceMs)), silenceMs);
    outgoing.once("close", () => {
      clearTimeout(silence);
      signal?.removeEventListener("abort", abort);
    });
    outgoing.once("response", (incoming) => {
      clearTimeout(silence);
      if (!isEvents(getContentType(incoming))) endSilence(incoming, silenceMs);
      resolve(incoming);
    });
    outgoing.once("upgrade", (_incoming, socket) => {
      socket.destroy();
      reject(new TypeError("fetch failed", { cause: new Error("the server changed to another protocol") }));
    });
    outgoing.once("error", (cause) =>
      reject(signal?.aborted === true ? signal.reason : new TypeError("fetch failed", { cause })),
    );
    outgoing.end(body);
  });
}

function silenceError(silenceMs: number): Error {
  return new Error(`the server sent nothing for ${silenceMs} ms`);
}

/** Aborts a response whose body stalls. */
function endSilence(incoming: IncomingMessage, silenceMs: number): void {
  const silence = setTimeout(() => incoming.destroy(silenceError(silenceMs)), silenceMs);
  incoming.on("data", () => silence.refresh()).pause();
  incoming.once("close", () => clearTimeout(silence));
}

function getContentType({ headers }: IncomingMessage): string {
  return (headers["content-type"] ?? "").toLowerCase();
}

function isEvents(contentType: string): boolean {
  return contentType.startsWith("text/event-stream");
}

function toHeaderPairs(headers: IncomingHttpHeaders): [string, string][] {
  return Object.entries(headers).flatMap(([name, value = []]) =>
    [value].flat().map((each): [string, string] => [name, each]),
  );
}

/** Reads a message completely, and passes an event stream on while it arrives. */
async function readBody(
  incoming: IncomingMessage,
  createFilter: (contentType: string) => BodyFilter,
): Promise<ReadableStream<Uint8Array> | Buffer<ArrayBuffer> | null> {
  const { statusCode = 0 } = incoming;
  const contentType = getContentType(incoming);
  if (BODILESS.has(statusCode)) {
    incoming.resume();
    return null;
  }
  const filter = createFilter(contentType);
  return isEvents(contentType) ? toStream(incoming, filter) : readWhole(incoming, filter);
}

async function readWhole(incoming: IncomingMessage, filter: BodyFilter): Promise<Buffer<ArrayBuffer>> {
  const parts: Uint8Array[] = [];
  try {
    for await (const chunk of incoming as AsyncIterable<Buffer>) {
      parts.push(...filter.take(chunk));
      if (filter.isDone) return Buffer.concat(parts);
    }
  } catch (cause) {
    throw new TypeError("terminated", { cause });
  }
  return Buffer.concat([...parts, ...filter.end()]);
}

function toStream(incoming: IncomingMessage, filter: BodyFilter): ReadableStream<Uint8Array> {
  let isClosed = false;
  return new ReadableStream<Uint8Array>({
    start(controller) {
      const pass = (parts: readonly Uint8Array[]): void => {
        for (const part of parts) controller.enqueue(part);
      };
      const close = (): void => {
        isClosed = true;
        controller.close();
      };
      incoming.on("data", (chunk: Buffer) => {
        if (isClosed) return;
        pass(filter.take(chunk));
        if (filter.isDone) {
          close();
          incoming.destroy();
        } else if ((controller.desiredSize ?? 0) <= 0) incoming.pause();
      });
      incoming.once("end", () => {
        if (isClosed) return;
        pass(filter.end());
        close();
      });
      incoming.once("error", (error) => {
        if (!isClosed) controller.error(new TypeError("terminated", { cause: error }));
        isClosed = true;
      });
    },
    pull: () => void incoming.resume(),
    cancel() {
      isClosed = true;
      incoming.destroy();
    },
  });
}

function applyFilter(response: Response, createFilter: (contentType: string) => BodyFilter): Response {
  if (response.body === null) return response;
  const filter = createFilter((response.headers.get("content-type") ?? "").toLowerCase());
  const body = response.body.pipeThrough(
    new TransformStream<Uint8Array, Uint8Array>({
      transform(chunk, controller) {
        for (const part of filter.take(chunk)) controller.enqueue(part);
        if (filter.isDone) controller.terminate();
      },
      flush(controller) {
        for (const part of filter.end()) controller.enqueue(part);
      },
    }),
  );
  const { status, statusText, headers, url } = response;
  // A new response has no URL of its own.
  return Object.defineProperty(new Response(body, { status, statusText, headers }), "url", { value: url });
}
