import { stripVTControlCharacters } from "node:util";

/** The end of a stream of text, in bounded memory. */
export interface Tail {
  push(chunk: Buffer): void;
  /** Whole lines where possible, without terminal colours and control characters. */
  text(): string;
}

export function createTail(maxBytes: number): Tail {
  const chunks: Buffer[] = [];
  let bytes = 0;
  return {
    push(chunk) {
      chunks.push(chunk);
      bytes += chunk.length;
      while (bytes - (chunks[0]?.length ?? 0) >= maxBytes) bytes -= chunks.shift()?.length ?? 0;
    },
    text() {
      const all = Buffer.concat(chunks);
      if (all.length <= maxBytes) return readable(all.toString("utf8"));
      const cut = all.subarray(-maxBytes);
      return readable(cut.subarray(cut.indexOf("\n") + 1).toString("utf8"));
    },
  };
}

/** What a process printed, fit to be shown in an error: no colours, no control characters but line ends and tabs. */
export function readable(text: string): string {
  return stripVTControlCharacters(text)
    .replaceAll(/\r\n?/g, "\n")
    .replaceAll(/[^\P{Cc}\n\t]/gu, "")
    .trim();
}
