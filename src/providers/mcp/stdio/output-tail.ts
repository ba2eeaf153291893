import { stripVTControlCharacters } from "node:util";

import type { KnownSecrets } from "../../../shared/secrets.ts";

/** Extra bytes kept before the end, so that a secret that crosses the cut is still recognized. */
const SECRET_BYTES = 8 << 10;

/** The end of a stream of text, in bounded memory. */
export interface OutputTail {
  push(chunk: Buffer): void;
  /** Returns whole lines where possible, without terminal colours, control characters and secrets. */
  text(secrets: KnownSecrets): string;
}

export function createOutputTail(maxBytes: number): OutputTail {
  const chunks: Buffer[] = [];
  let bytes = 0;
  return {
    push(chunk) {
      chunks.push(chunk);
      bytes += chunk.length;
      while (bytes - (chunks[0]?.length ?? 0) >= maxBytes + SECRET_BYTES) bytes -= chunks.shift()?.length ?? 0;
    },
    text(secrets) {
      const all = Buffer.concat(chunks);
      const text = readable(all.toString("utf8"));
      if (all.length <= maxBytes) return secrets.maskText(text);
      return secrets.maskEnd(text, text.length - findTailStart(text, maxBytes));
    },
  };
}

/** Returns the offset of the last characters, moved to the start of a line if possible. */
function findTailStart(text: string, characters: number): number {
  const start = Math.max(0, text.length - characters);
  const line = text.indexOf("\n", start - 1) + 1;
  return start === 0 || line === 0 ? start : line;
}

/** Cleans output for an error: removes colours and all control characters except line ends and tabs. */
export function readable(text: string): string {
  return stripVTControlCharacters(text)
    .replaceAll(/\r\n?/g, "\n")
    .replaceAll(/[^\P{Cc}\n\t]/gu, "")
    .trim();
}
