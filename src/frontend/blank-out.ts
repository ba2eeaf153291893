/** A part of a text. */
export interface Span {
  readonly start: number;
  readonly end: number;
}

/** The text with spaces for everything in the spans, line feeds excepted. Spans are in order and apart. */
export function blankOut(text: string, spans: readonly Span[]): string {
  let result = "";
  let at = 0;
  for (const { start, end } of spans) {
    result += text.slice(at, start) + spaces(text.slice(start, end));
    at = end;
  }
  return result + text.slice(at);
}

/** The text with spaces for everything outside of the span. */
export function blankOutAround(text: string, { start, end }: Span): string {
  return spaces(text.slice(0, start)) + text.slice(start, end) + spaces(text.slice(end));
}

function spaces(text: string): string {
  return text.replace(/[^\n]/g, " ");
}
