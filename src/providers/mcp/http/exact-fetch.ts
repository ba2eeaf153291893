import type { FetchLike } from "@modelcontextprotocol/client";

import { setImmediate as nextTurn } from "node:timers/promises";

import { markNumbers, removeMarks } from "../../../shared/json/exact-json.ts";
import { findShapeExcess } from "../../../shared/json/json-shape.ts";
import { findOverlongId, MAX_BATCH } from "../stdio/messages.ts";
import { createOverlongAnswer, getRequestId, type MessageId } from "./size-limited-fetch.ts";

const NEWLINE = 10;

/** Lines of events that are passed on in one turn of the event loop. */
const TURN_LINES = 100;

/** Characters at each end of an answer that are searched for the id of its request. */
const END_CHARACTERS = 256;

/**
 * `fetch` that sends the digits of marks, and whose JSON and events have marks in place of the numbers that `JSON.parse` would change.
 * An answer whose object has too many names, an event of more than `maxBytes`, and a batch of too many messages become an error of
 * their request.
 */
export function exactFetch(fetch: FetchLike, maxBytes: number): FetchLike {
  return async (url, init) => {
    const response = await fetch(url, withoutMarks(init));
    const { body, status, statusText, headers } = response;
    const type = (headers.get("content-type") ?? "").toLowerCase();
    // The text of another status becomes a part of an error as it is.
    if (!response.ok || body === null || !/^(?:application\/json|text\/event-stream)\b/.test(type)) return response;
    const requestId = (): MessageId => getRequestId(init?.body);
    const marked = type.startsWith("text/event-stream")
      ? markEvents(body, maxBytes, requestId)
      : markBody(await response.text(), requestId);
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

/** Marks the numbers of a body, or puts an error in the place of a batch: its reader takes all messages in one turn of the event loop. */
function markBody(json: string, requestId: () => MessageId): string {
  const isBatch = json.length > MAX_BATCH && /^\s*\[/.test(json);
  if (isBatch && findShapeExcess(json) === undefined && countItems(json) > MAX_BATCH)
    return createOverlongAnswer(requestId(), `more than ${MAX_BATCH} messages`);
  return mark(json, requestId);
}

/** Counts the items of a list; 0 for other texts. */
function countItems(json: string): number {
  try {
    const value: unknown = JSON.parse(json);
    return Array.isArray(value) ? value.length : 0;
  } catch {
    return 0; // not JSON, which its reader reports
  }
}

/** Marks the numbers of an answer, or puts an error in its place. */
function mark(json: string, requestId: () => MessageId): string {
  const excess = findShapeExcess(json);
  if (excess === undefined) return markNumbers(json);
  const id = findOverlongId(json.slice(0, END_CHARACTERS), json.slice(-END_CHARACTERS)) ?? requestId();
  return createOverlongAnswer(id, excess);
}

/** Marks the data of events. Lines of data are one text for their reader, so they are passed on together, at the end of the event. */
function markEvents(
  body: ReadableStream<Uint8Array>,
  maxBytes: number,
  requestId: () => MessageId,
): ReadableStream<Uint8Array> {
  let parts: Uint8Array[] = [];
  let lines = 0;
  const event = new EventData(maxBytes, requestId);
  const endLine = (controller: TransformStreamDefaultController<Uint8Array>): void => {
    const line = Buffer.concat(parts);
    parts = [];
    if (line.toString("latin1", 0, DATA.length) === DATA) return event.add(line.subarray(DATA.length));
    if (isBlank(line)) controller.enqueue(event.take());
    if (line.length > 0) controller.enqueue(line);
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
      flush(controller) {
        endLine(controller);
        controller.enqueue(event.take());
      },
    }),
  );
}

/** Collects the data of one event. */
class EventData {
  readonly #maxBytes: number;
  readonly #requestId: () => MessageId;
  #lines: Buffer[] = [];
  #bytes = 0;

  constructor(maxBytes: number, requestId: () => MessageId) {
    this.#maxBytes = maxBytes;
    this.#requestId = requestId;
  }

  add(line: Buffer): void {
    this.#bytes += line.length;
    if (this.#bytes <= this.#maxBytes) this.#lines.push(line);
  }

  /** Returns the data as one line, with its numbers marked, and forgets it. */
  take(): Buffer {
    const data = Buffer.concat(this.#lines).toString();
    const isOverlong = this.#bytes > this.#maxBytes;
    const isEmpty = this.#bytes === 0;
    [this.#lines, this.#bytes] = [[], 0];
    if (isEmpty) return Buffer.alloc(0);
    const excess = `more than ${this.#maxBytes} bytes`;
    const marked = isOverlong
      ? createOverlongAnswer(findOverlongId(data.slice(0, END_CHARACTERS), "") ?? this.#requestId(), excess)
      : mark(data, this.#requestId);
    // Between the tokens of JSON, a space is what an end of a line is.
    return Buffer.from(`${DATA}${marked.trimEnd().replaceAll(/[\n\r]+/g, " ")}\n`);
  }
}

function isBlank(line: Buffer): boolean {
  return line.length <= 2 && line.toString("latin1").trim() === "";
}

const DATA = "data:";
