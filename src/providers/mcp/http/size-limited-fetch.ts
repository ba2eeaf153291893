import type { FetchLike } from "@modelcontextprotocol/client";

import { isRecord } from "../../../model/json.ts";
import { nodeFetch, type BodyFilter } from "./node-fetch.ts";
import { findOverlongId } from "../stdio/messages.ts";
import { OVERLONG_ANSWER } from "../connections/wire-errors.ts";

const NEWLINE = 10;

/** How many bytes at each end of a line are searched for the id of the response. */
const END_BYTES = 256;

/** `fetch` that turns a message of more than `maxBytes` into an error of the request that it answers. */
export function sizeLimitedFetch(maxBytes: number, silenceMs?: number): FetchLike {
  return nodeFetch((init, contentType) => {
    const asked = (): MessageId => getRequestId(init?.body);
    return contentType.startsWith("text/event-stream") ? limitEvents(maxBytes, asked) : limitBody(maxBytes, asked);
  }, silenceMs);
}

type MessageId = string | number | undefined;

/** Returns the id of the single request in a body; `undefined` for a batch. */
function getRequestId(body: unknown): MessageId {
  if (typeof body !== "string") return undefined;
  const message: unknown = JSON.parse(body);
  const id = isRecord(message) ? message["id"] : undefined;
  return typeof id === "string" || typeof id === "number" ? id : undefined;
}

/** Holds a single-message answer back until its end: a part that has been passed on cannot be replaced. */
function limitBody(maxBytes: number, asked: () => MessageId): BodyFilter {
  const chunks: Uint8Array[] = [];
  let bytes = 0;
  return {
    take(chunk) {
      bytes += chunk.length;
      if (bytes > maxBytes) return [Buffer.from(overlongAnswer(asked(), maxBytes))];
      chunks.push(chunk);
      return [];
    },
    end: () => chunks,
    get isDone() {
      return bytes > maxBytes;
    },
  };
}

/**
 * Drops the rest of a line that is too long. Its event is then not a valid message, and an error message follows it.
 */
function limitEvents(maxBytes: number, asked: () => MessageId): BodyFilter {
  let bytes = 0;
  let start = Buffer.alloc(0);
  let end = Buffer.alloc(0);
  const overlong = (): Uint8Array[] =>
    bytes > maxBytes ? [Buffer.from(overlongEvent(start, end, asked, maxBytes))] : [];
  return {
    take(chunk) {
      const passed: Uint8Array[] = [];
      for (let at = 0; at < chunk.length;) {
        const newline = chunk.indexOf(NEWLINE, at);
        const part = chunk.subarray(at, newline < 0 ? chunk.length : newline + 1);
        at += part.length;
        if (bytes < END_BYTES) start = Buffer.concat([start, part.subarray(0, END_BYTES - bytes)]);
        bytes += part.length;
        if (bytes <= maxBytes) passed.push(part);
        else end = Buffer.concat([end, part.subarray(-END_BYTES)]).subarray(-END_BYTES);
        if (newline < 0) continue;
        passed.push(...overlong());
        [bytes, start, end] = [0, Buffer.alloc(0), Buffer.alloc(0)];
      }
      return passed;
    },
    end: overlong,
    isDone: false,
  };
}

function overlongEvent(start: Buffer, end: Buffer, asked: () => MessageId, maxBytes: number): string {
  const id = findOverlongId(start.toString().replace(/^data:/, ""), end.toString()) ?? asked();
  return `\n\nevent: message\ndata: ${overlongAnswer(id, maxBytes)}\n\n`;
}

function overlongAnswer(id: MessageId, maxBytes: number): string {
  const error = { code: OVERLONG_ANSWER, message: `the answer has more than ${maxBytes} bytes` };
  return JSON.stringify({ jsonrpc: "2.0", id: id ?? null, error });
}
