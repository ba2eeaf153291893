import type { Readable } from "node:stream";
import { finished } from "node:stream/promises";

/** The bytes of a body. A list of its chunks would take hundreds of times as much memory if each has one byte. */
export interface GrowingBuffer {
  /** Returns false if there is no memory for more. */
  append(chunk: Uint8Array): boolean;
  get(): Buffer<ArrayBuffer>;
  clear(): void;
}

interface GrowingSizes {
  /** The largest size, which the buffer has once it has more than `smallBytes`, or twice as much as before. */
  readonly bytes: number;
  readonly smallBytes: number;
}

const SMALL_BYTES = 16 << 10;

/** `reserve` is asked before the buffer has a size, of which at least half is used unless one chunk has filled it. */
export function createGrowingBuffer(
  { bytes: most, smallBytes = SMALL_BYTES }: Partial<GrowingSizes> & Pick<GrowingSizes, "bytes">,
  reserve: (size: number) => boolean = () => true,
): GrowingBuffer {
  let buffer = Buffer.alloc(0);
  let length = 0;
  return {
    append(chunk) {
      const needed = length + chunk.length;
      if (needed > buffer.length) {
        const size = Math.max(needed, Math.min(2 * buffer.length, needed > smallBytes ? most : smallBytes));
        if (!reserve(size)) return false;
        const larger = Buffer.allocUnsafeSlow(size);
        buffer.copy(larger, 0, 0, length);
        buffer = larger;
      }
      buffer.set(chunk, length);
      length = needed;
      return true;
    },
    get: () => buffer.subarray(0, length),
    clear() {
      buffer = Buffer.alloc(0);
      length = 0;
    },
  };
}

/**
 * Passes the chunks of a stream on as they come, and resolves at its end. A stream that is iterated over keeps its chunks in a list, from
 * which each is removed in time that grows with the list: a sender of single bytes would stop the event loop.
 */
export async function readFlowing(stream: Readable, take: (chunk: Buffer) => void): Promise<void> {
  stream.on("data", take);
  await finished(stream, { writable: false });
}
