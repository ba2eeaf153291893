/** How a text ends its lines, and by what it indents. */
export interface Formatting {
  readonly eol: string;
  readonly indent: string;
}

/** Detects the prevailing line ends and indentation; two spaces if the text has no indentation. */
export function detectFormatting(text: string): Formatting {
  const ends = text.match(/\r\n|\n/g) ?? [];
  const windows = ends.filter((end) => end === "\r\n").length;
  const [, indent = "  "] = /^[^\S\r\n]*\S[^\n]*\n([ \t]+)\S/m.exec(text) ?? [];
  return { eol: windows * 2 > ends.length ? "\r\n" : "\n", indent };
}

/** The white space at the beginning of the line that holds an offset. */
export function indentAt(text: string, offset: number): string {
  const start = text.lastIndexOf("\n", offset - 1) + 1;
  return /^[ \t]*/.exec(text.slice(start, offset))?.[0] ?? "";
}
