import { relative } from "node:path";
import { stripVTControlCharacters } from "node:util";
import { truncateText } from "../../../shared/format-text.ts";

export { escapeInvisible as escaped } from "../../../shared/visible-text.ts";

export function count(number: number, word: string): string {
  return `${number} ${word}${number === 1 ? "" : "s"}`;
}

/** A time in RFC 3339, for `--json`. */
export function toIso(time: number | null): string | null {
  return time === null ? null : new Date(time).toISOString();
}

/** `2027-01-31 12:00 UTC` */
export function formatMinute(time: number): string {
  return `${new Date(time).toISOString().slice(0, 16).replace("T", " ")} UTC`;
}

/** `2027-01-31 12:00:00 UTC` */
export function formatSecond(time: number): string {
  return `${new Date(time).toISOString().slice(0, 19).replace("T", " ")} UTC`;
}

export function milliseconds(ms: number): string {
  return `${ms.toFixed(ms < 10 ? 1 : 0)} ms`;
}

/** Rows as lines, each column as wide as its widest cell. */
export function table(rows: readonly (readonly string[])[]): readonly string[] {
  const widths = rows[0]?.map((_, column) => Math.max(...rows.map((row) => width(row[column] ?? "")))) ?? [];
  return rows.map((row) =>
    row
      .map((cell, column) => cell + " ".repeat((widths[column] ?? 0) - width(cell)))
      .join("  ")
      .trimEnd(),
  );
}

/** The width of a cell, not counting colour codes. */
function width(cell: string): number {
  return stripVTControlCharacters(cell).length;
}

/** The first line, cut with an ellipsis if it is too long. */
export function shortened(text: string, units: number): string {
  return truncateText(text.split("\n", 1)[0] ?? "", units);
}

/** The length at which a list cuts a description. */
export const DESCRIPTION_UNITS = 80;

export function indented(text: string): string {
  return text === "" ? "" : text.trimEnd().replace(/^/gm, "    ");
}

export function lines(parts: readonly string[]): string {
  return parts.filter((part) => part !== "").join("\n");
}

/** A path as a user would type it: relative if it is inside the current folder. */
export function shownPath(file: string): string {
  const path = relative(process.cwd(), file);
  return path === "" || path.startsWith("..") ? file : path;
}
