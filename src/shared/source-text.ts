import { findFirstIndex } from "./binary-search.ts";
import { ERRORS, type ErrorCode, sentence } from "../errors.ts";
import { truncateText } from "./format-text.ts";
import type { Position, Violation } from "../model/outcome.ts";

/** Columns of a line that a frame shows; of a longer line it shows the part around the place. */
const MAX_FRAME_COLUMNS = 100;

/** Columns before the place that stay visible in a line that is cut. */
const COLUMNS_BEFORE = 40;

/** Characters of a name that a message repeats. */
const MAX_NAME_CHARACTERS = 60;

/** Invisible characters, and those that change the direction in which text is displayed. */
const INVISIBLE = /[\p{Cc}\p{Cf}\p{Cs}\p{Zl}\p{Zp}\p{Default_Ignorable_Code_Point}]/gu;

/** Converts between offsets and positions in one text. Lines end with a line feed. */
export interface SourceText {
  position(offset: number): Position;
  offset(position: Position): number;
  /** The line of `start` between its neighbours, with a caret under every character up to `end`. */
  frame(start: number, end: number): string;
}

/** A mistake at one place, not yet formatted. Offsets refer to the text as the model wrote it. */
export interface SourceFinding {
  readonly code: ErrorCode;
  /** The values that the sentence of the code quotes. */
  readonly values: string;
  readonly start: number;
  readonly end: number;
  /** Replaces the code's own fix. */
  readonly fix?: string;
  readonly suggestions?: readonly string[];
}

/** Creates the index of lines when it is first needed. */
export function createSourceText(text: string): SourceText {
  let starts: readonly number[] | undefined;
  const lines = (): readonly number[] => (starts ??= findLineStarts(text));
  return {
    position: (offset) => findPosition(lines(), Math.max(0, Math.min(offset, text.length))),
    offset: ({ line, column }) => Math.min((lines()[line - 1] ?? text.length) + column, text.length),
    frame: (start, end) => formatFrame(text, lines(), start, end),
  };
}

export function createViolation(source: SourceText, finding: SourceFinding): Violation {
  const end = source.position(Math.max(finding.end, finding.start));
  return {
    code: finding.code,
    message: sentence(finding.code, finding.values),
    ...source.position(finding.start),
    endLine: end.line,
    endColumn: end.column,
    frame: source.frame(finding.start, finding.end),
    fix: finding.fix ?? ERRORS[finding.code].fix,
    suggestions: finding.suggestions ?? [],
  };
}

/** A part of a text, and what replaces it. Offsets in UTF-16 units. */
export interface TextEdit {
  readonly start: number;
  readonly end: number;
  readonly text: string;
}

/** Applies edits, which must not overlap. */
export function applyEdits(text: string, edits: readonly TextEdit[]): string {
  let result = "";
  let at = 0;
  for (const { start, end, text: replacement } of [...edits].sort((a, b) => a.start - b.start)) {
    result += text.slice(at, start) + replacement;
    at = end;
  }
  return result + text.slice(at);
}

/** A name as it can be shown: of bounded length, with escapes for what would not be seen. */
export function printableName(name: string, max = MAX_NAME_CHARACTERS): string {
  return truncateText(name, max).replace(
    INVISIBLE,
    (character) => `\\u{${(character.codePointAt(0) ?? 0).toString(16)}}`,
  );
}

function findLineStarts(text: string): readonly number[] {
  const starts = [0];
  for (let at = text.indexOf("\n"); at >= 0; at = text.indexOf("\n", at + 1)) starts.push(at + 1);
  return starts;
}

function findPosition(starts: readonly number[], offset: number): Position {
  const line = Math.max(
    1,
    findFirstIndex(starts, (start) => start > offset),
  );
  return { line, column: offset - (starts[line - 1] ?? 0) };
}

function formatFrame(text: string, starts: readonly number[], start: number, end: number): string {
  const at = findPosition(starts, Math.max(0, Math.min(start, text.length)));
  const lineEnd = (starts[at.line] ?? text.length + 1) - 1;
  const from = lineEnd - (starts[at.line - 1] ?? 0) > MAX_FRAME_COLUMNS ? Math.max(0, at.column - COLUMNS_BEFORE) : 0;
  const width = String(Math.min(at.line + 1, starts.length)).length;
  const rows: string[] = [];
  for (let line = Math.max(1, at.line - 1); line <= Math.min(at.line + 1, starts.length); line++) {
    const mark = line === at.line ? ">" : " ";
    const shownLine = sliceColumns(text, starts[line - 1] ?? 0, (starts[line] ?? text.length + 1) - 1, from);
    rows.push(`${mark} ${String(line).padStart(width)} | ${shownLine}`.trimEnd());
    if (line === at.line) rows.push(caretRow(width, at.column - from, Math.min(end, lineEnd) - start, from));
  }
  return rows.join("\n");
}

/** The columns from `from` on of the line between two offsets, one character each. */
function sliceColumns(text: string, lineStart: number, lineEnd: number, from: number): string {
  const start = Math.min(lineStart + from, lineEnd);
  const cut = lineEnd - start > MAX_FRAME_COLUMNS;
  const part = text.slice(start, cut ? start + MAX_FRAME_COLUMNS : lineEnd).replace(/\r$/, "");
  const visible = part.replaceAll("\t", " ").replace(INVISIBLE, (character) => "�".repeat(character.length));
  return `${from > 0 ? "…" : ""}${visible}${cut ? "…" : ""}`;
}

function caretRow(width: number, column: number, length: number, from: number): string {
  const carets = Math.max(1, Math.min(length, MAX_FRAME_COLUMNS - column));
  return `  ${" ".repeat(width)} | ${" ".repeat(column + (from > 0 ? 1 : 0))}${"^".repeat(carets)}`;
}

/** Replaces everything with spaces, except line feeds: what follows keeps its position. */
export function toSpaces(text: string): string {
  return text.replace(/[^\n]/g, " ");
}
