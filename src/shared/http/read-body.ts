import type { Readable } from "node:stream";

import { createError } from "../../errors.ts";
import { createGrowingBuffer, readFlowing } from "./growing-buffer.ts";

/** A body that did not end: no byte came for too long. */
export class BodyStalled extends Error {}

export interface BodyLimits {
  readonly maxBytes: number;
  /** The longest time between two parts. */
  readonly stallMs: number;
}

/** Reads a body to its end. Throws `ANSWER_LIMIT` for a longer one. */
export async function readBody(body: Readable, limits: BodyLimits): Promise<Buffer> {
  const { bytes, isCut } = await readStart(body, limits);
  if (!isCut) return bytes;
  throw createError("ANSWER_LIMIT", `it has more than ${limits.maxBytes} bytes`);
}

/** Reads at most `maxBytes` of a body, for at most `maxMs`, and ends the connection there. */
export async function readStart(
  body: Readable,
  { maxBytes, stallMs, maxMs }: BodyLimits & { readonly maxMs?: number },
): Promise<{ readonly bytes: Buffer; readonly isCut: boolean }> {
  const content = createGrowingBuffer({ bytes: maxBytes });
  let left = maxBytes;
  let isOver = false;
  const stall = setTimeout(() => body.destroy(new BodyStalled(`no part of it came for ${stallMs} ms`)), stallMs);
  const end = maxMs === undefined ? undefined : setTimeout(() => body.destroy(), maxMs);
  try {
    await readFlowing(body, (chunk) => {
      stall.refresh();
      if (isOver) return;
      content.append(chunk.subarray(0, left));
      left -= chunk.length;
      isOver = left < 0;
      if (isOver) body.destroy();
    });
  } catch (thrown) {
    if (!isOver && (maxMs === undefined || body.errored != null)) throw thrown;
    isOver = true;
  } finally {
    clearTimeout(stall);
    clearTimeout(end);
  }
  return { bytes: content.get(), isCut: isOver };
}
