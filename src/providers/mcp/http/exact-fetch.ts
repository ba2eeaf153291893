import type { FetchLike } from "@modelcontextprotocol/client";

import { setImmediate as nextTurn } from "node:timers/promises";

import { markNumbers, removeMarks } from "../../../shared/json/exact-json.ts";
import { findShapeExcess } from "../../../shared/json/json-shape.ts";
import { createLineReader, END_BYTES, PART_BYTES } from "../stdio/line-reader.ts";
import { findOverlongId, MAX_BATCH } from "../stdio/messages.ts";
import { createOverlongAnswer, getRequestId, type MessageId } from "./size-limited-fetch.ts";

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

const [NEWLINE, RETURN] = [10, 13];

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
  const id = findOverlongId(json.slice(0, END_BYTES), json.slice(-END_BYTES)) ?? requestId();
  return createOverlongAnswer(id, excess);
}

/** Marks the data of events. Lines of data are one text for their reader, so they are passed on together, at the end of the event. */
function markEvents(
  body: ReadableStream<Uint8Array>,
  maxBytes: number,
  requestId: () => MessageId,
): ReadableStream<Uint8Array> {
  let output = "";
  const event = new EventData(maxBytes, requestId);
  const lines = createLineReader(maxBytes, {
    line(text) {
      const data = readData(text);
      if (data === undefined) output += `${text}\n`;
      else event.add(data);
    },
    empty: () => void (output += `${event.take()}\n`),
    overlong(start, end) {
      const data = readData(start);
      if (data !== undefined) event.addOverlong(data, end);
    },
  });
  const unify = createUnifier();
  const passOn = (controller: TransformStreamDefaultController<Uint8Array>): void => {
    if (output !== "") controller.enqueue(Buffer.from(output));
    output = "";
  };
  return body.pipeThrough(
    new TransformStream<Uint8Array, Uint8Array>({
      async transform(chunk, controller) {
        const bytes = Buffer.from(chunk.buffer, chunk.byteOffset, chunk.byteLength);
        for (let at = 0; at < bytes.length; at += PART_BYTES) {
          if (at > 0) await nextTurn(); // the reader handles all that it got in one turn
          lines.push(unify(bytes.subarray(at, at + PART_BYTES)));
          passOn(controller);
        }
      },
      flush(controller) {
        lines.end();
        passOn(controller);
      },
    }),
  );
}

/** Returns a function that makes each end of a line one newline: `\n`, `\r\n` and `\r` are the same to readers of events. */
function createUnifier(): (part: Buffer) => Buffer {
  let hasReturned = false;
  return (part) => {
    const start = hasReturned && part[0] === NEWLINE ? 1 : 0;
    hasReturned = part.at(-1) === RETURN;
    const rest = part.subarray(start);
    if (!rest.includes(RETURN)) return rest;
    return Buffer.from(rest.toString("latin1").replaceAll(/\r\n?/g, "\n"), "latin1");
  };
}

/** The start of a line of data, after the marks of byte order that readers remove. */
const DATA = /^\uFEFF*data(?::|$)/;

function readData(line: string): string | undefined {
  const [start] = DATA.exec(line) ?? [];
  return start === undefined ? undefined : line.slice(start.length);
}

/** Collects the data of one event, at most `maxBytes` with the names of its lines. */
class EventData {
  readonly #maxBytes: number;
  readonly #requestId: () => MessageId;
  #text: string | undefined;
  #bytes = 0;
  #end = "";

  constructor(maxBytes: number, requestId: () => MessageId) {
    this.#maxBytes = maxBytes;
    this.#requestId = requestId;
  }

  add(line: string): void {
    this.#bytes += "data:\n".length + Buffer.byteLength(line);
    this.#end = line.slice(-END_BYTES);
    // Between the tokens of JSON, a space is what an end of a line is.
    if (this.#bytes <= this.#maxBytes) this.#text = this.#text === undefined ? line : `${this.#text} ${line}`;
  }

  /** Adds a line of more than `maxBytes`, of which the two ends are left. */
  addOverlong(start: string, end: string): void {
    this.#text ??= start;
    this.#bytes = Infinity;
    this.#end = end;
  }

  /** Returns the data as one line, with its numbers marked, and forgets it; an empty text without data. */
  take(): string {
    const [text = "", end, bytes] = [this.#text, this.#end, this.#bytes];
    [this.#text, this.#end, this.#bytes] = [undefined, "", 0];
    if (bytes === 0) return "";
    if (bytes <= this.#maxBytes) return `data:${mark(text, this.#requestId)}\n`;
    const id = findOverlongId(text.slice(0, END_BYTES), end) ?? this.#requestId();
    return `data:${createOverlongAnswer(id, `more than ${this.#maxBytes} bytes`)}\n`;
  }
}
