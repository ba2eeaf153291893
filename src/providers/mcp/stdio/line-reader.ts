import type { Readable } from "node:stream";
import { setImmediate as nextTurn } from "node:timers/promises";

const NEWLINE = 10;

/** Bytes kept at each end of a line that is too long: enough to find the id of the response. */
export const END_BYTES = 256;

/** Receives the lines of a stream. */
export interface LineSink {
  line(text: string): void;
  /** Receives an empty line. */
  empty?(): void;
  /** A line of more than the allowed bytes: only its two ends are left. */
  overlong(start: string, end: string): void;
}

export interface LineReader {
  push(chunk: Buffer): void;
  /** Ends the stream; text after the last newline is a line too. */
  end(): void;
}

/** Splits a stream into lines, in linear time and with at most `maxBytes` of memory. */
export function createLineReader(maxBytes: number, sink: LineSink): LineReader {
  let parts: Buffer[] = [];
  let bytes = 0;

  const keep = (part: Buffer): void => {
    bytes += part.length;
    parts.push(part);
    if (bytes > maxBytes) parts = keepEnds(parts);
  };
  const finish = (): void => {
    const text = Buffer.concat(parts);
    if (bytes > maxBytes)
      sink.overlong(text.toString("utf8", 0, END_BYTES), text.toString("utf8", text.length - END_BYTES));
    else if (bytes > 0) sink.line(text.toString("utf8"));
    else sink.empty?.();
    parts = [];
    bytes = 0;
  };

  return {
    push(chunk) {
      let start = 0;
      for (let at = chunk.indexOf(NEWLINE); at >= 0; at = chunk.indexOf(NEWLINE, start)) {
        keep(chunk.subarray(start, at));
        finish();
        start = at + 1;
      }
      if (start < chunk.length) keep(chunk.subarray(start));
    },
    end() {
      if (bytes > 0) finish();
    },
  };
}

/** The first and last bytes, copied so that the rest can be freed. */
function keepEnds(parts: readonly Buffer[]): Buffer[] {
  const whole = Buffer.concat(parts);
  if (whole.length <= 2 * END_BYTES) return [whole];
  return [Buffer.concat([whole.subarray(0, END_BYTES), whole.subarray(-END_BYTES)])];
}

/** Bytes of a stream that are read without a look at the time: its messages are short. */
export const PART_BYTES = 4 << 10;

/** Milliseconds that the messages of a stream take of one turn of the event loop. */
const TURN_MS = 10;

/** Passes a stream on in parts, so that a burst of messages leaves other work its turns. Resolves at the end of the stream. */
export async function readInTurns(stream: Readable, push: (part: Buffer) => void): Promise<void> {
  let usedMs = 0;
  try {
    for await (const chunk of stream as AsyncIterable<Buffer>) {
      for (let at = 0; at < chunk.length; at += PART_BYTES) {
        const start = performance.now();
        push(chunk.subarray(at, at + PART_BYTES));
        usedMs += performance.now() - start;
        if (usedMs < TURN_MS) continue;
        await nextTurn();
        usedMs = 0;
      }
    }
  } catch {
    // The process was ended, and its output with it.
  }
}
