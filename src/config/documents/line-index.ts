import { LineCounter } from "../../shared/package/yaml.ts";

import type { FileLocation } from "../read-file.ts";

/** Places by offset; lines are counted once, so that many places in a large file cost no more than few. */
export function createLineIndex(text: string): (offset: number) => FileLocation {
  const lines = new LineCounter();
  lines.addNewLine(0);
  for (const { index, 0: end } of text.matchAll(/\r\n?|\n/g)) lines.addNewLine(index + end.length);
  return (offset) => {
    const { line, col } = lines.linePos(offset);
    return { line, column: col };
  };
}
