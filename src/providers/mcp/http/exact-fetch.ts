import type { FetchLike } from "@modelcontextprotocol/client";

import { markNumbers, removeMarks } from "../../../shared/json/exact-json.ts";

const NEWLINE = 10;

/** `fetch` that sends the digits of marks, and whose JSON and events have marks in place of the numbers that `JSON.parse` would change. */
export function exactFetch(fetch: FetchLike): FetchLike {
  return async (url, init) => {
    const response = await fetch(url, withoutMarks(init));
    const { body, status, statusText, headers } = response;
    const type = (headers.get("content-type") ?? "").toLowerCase();
    if (body === null || !/^(?:application\/json|text\/event-stream)\b/.test(type)) return response;
    const marked = type.startsWith("text/event-stream") ? markEvents(body) : markNumbers(await response.text());
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

/** Marks the data of events. A line is passed on when it is complete; an event is not read before that. */
function markEvents(body: ReadableStream<Uint8Array>): ReadableStream<Uint8Array> {
  let parts: Uint8Array[] = [];
  const endLine = (controller: TransformStreamDefaultController<Uint8Array>): void => {
    const line = Buffer.concat(parts);
    parts = [];
    if (line.length > 0) controller.enqueue(line.toString("latin1", 0, 5) === "data:" ? markLine(line) : line);
  };
  return body.pipeThrough(
    new TransformStream<Uint8Array, Uint8Array>({
      transform(chunk, controller) {
        for (let at = 0; at < chunk.length;) {
          const newline = chunk.indexOf(NEWLINE, at);
          const end = newline < 0 ? chunk.length : newline + 1;
          parts.push(chunk.subarray(at, end));
          at = end;
          if (newline >= 0) endLine(controller);
        }
      },
      flush: endLine,
    }),
  );
}

function markLine(line: Buffer): Buffer {
  const text = line.toString("utf8");
  const marked = markNumbers(text);
  return marked === text ? line : Buffer.from(marked);
}
