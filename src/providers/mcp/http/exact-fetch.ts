import type { FetchLike } from "@modelcontextprotocol/client";

import { setImmediate as nextTurn } from "node:timers/promises";

import { markNumbers, removeMarks } from "../../../shared/json/exact-json.ts";
import { findShapeExcess } from "../../../shared/json/json-shape.ts";
import { findOverlongId } from "../stdio/messages.ts";
import { createOverlongAnswer, getRequestId, type MessageId } from "./size-limited-fetch.ts";

const NEWLINE = 10;

/** Lines of events that are passed on in one turn of the event loop. */
const TURN_LINES = 100;

/** Characters at each end of an answer that are searched for the id of its request. */
const END_CHARACTERS = 256;

/**
 * `fetch` that sends the digits of marks, and whose JSON and events have marks in place of the numbers that `JSON.parse` would change.
 * An answer whose object has too many names becomes an error of its request.
 */
export function exactFetch(fetch: FetchLike): FetchLike {
  return async (url, init) => {
    const response = await fetch(url, withoutMarks(init));
    const { body, status, statusText, headers } = response;
    const type = (headers.get("content-type") ?? "").toLowerCase();
    // The text of another status becomes a part of an error as it is.
    if (!response.ok || body === null || !/^(?:application\/json|text\/event-stream)\b/.test(type)) return response;
    const requestId = (): MessageId => getRequestId(init?.body);
    const marked = type.startsWith("text/event-stream")
      ? markEvents(body, requestId)
      : mark(await response.text(), requestId);
    return Object.defineProperties(new Response(marked, { status, statusText, headers }), {
      url: { value: response.url },
      redirected: { value: response.redirected },
    });
  };
}

/** Replaces the marks in a request by the digits that they stand for. */
function withoutMarks(init: RequestInit | undefined): RequestInit | undefined {
  if (typeof init?.body !== "string") return init;
  const body = removeMarks(init.body);
  if (body === init.body) return init;
  const headers = [...new Headers(init.headers)].map(([name, value]): [string, string] => [name, removeMarks(value)]);
  return { ...init, body, headers };
}

/** Marks the numbers of an answer, or puts an error in its place. */
function mark(json: string, requestId: () => MessageId): string {
  const excess = findShapeExcess(json);
  if (excess === undefined) return markNumbers(json);
  const id = findOverlongId(json.slice(0, END_CHARACTERS), json.slice(-END_CHARACTERS)) ?? requestId();
  return createOverlongAnswer(id, excess);
}

/** Marks the data of events. A line is passed on when it is complete; an event is not read before that. */
function markEvents(body: ReadableStream<Uint8Array>, requestId: () => MessageId): ReadableStream<Uint8Array> {
  let parts: Uint8Array[] = [];
  let lines = 0;
  const endLine = (controller: TransformStreamDefaultController<Uint8Array>): void => {
    const line = Buffer.concat(parts);
    parts = [];
    if (line.length > 0)
      controller.enqueue(line.toString("latin1", 0, 5) === "data:" ? markLine(line, requestId) : line);
  };
  return body.pipeThrough(
    new TransformStream<Uint8Array, Uint8Array>({
      async transform(chunk, controller) {
        for (let at = 0; at < chunk.length;) {
          const newline = chunk.indexOf(NEWLINE, at);
          const end = newline < 0 ? chunk.length : newline + 1;
          parts.push(chunk.subarray(at, end));
          at = end;
          if (newline < 0) continue;
          endLine(controller);
          if (++lines % TURN_LINES === 0) await nextTurn();
        }
      },
      flush: endLine,
    }),
  );
}

function markLine(line: Buffer, requestId: () => MessageId): Buffer {
  const [name, data] = [line.toString("utf8", 0, DATA.length), line.toString("utf8", DATA.length)];
  const marked = mark(data, requestId);
  return marked === data ? line : Buffer.from(`${name}${marked}${marked.endsWith("\n") ? "" : "\n"}`);
}

const DATA = "data:";
