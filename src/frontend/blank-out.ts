import { toSpaces } from "../shared/source-text.ts";

/** A part of a text. */
export interface Span {
  readonly start: number;
  readonly end: number;
}

/** Replaces everything in the spans with spaces, except line feeds. The spans are sorted and do not overlap. */
export function blankOut(text: string, spans: readonly Span[]): string {
  let result = "";
  let at = 0;
  for (const { start, end } of spans) {
    result += text.slice(at, start) + toSpaces(text.slice(start, end));
    at = end;
  }
  return result + text.slice(at);
}

/** Replaces everything outside the span with spaces, except line feeds. */
export function blankOutAround(text: string, { start, end }: Span): string {
  return toSpaces(text.slice(0, start)) + text.slice(start, end) + toSpaces(text.slice(end));
}
