import { isRecord } from "../../model/json.ts";
import type { Path } from "./index.ts";
import { detectFormatting } from "./formatting.ts";
import { isUnder, type Statement, statementsIn } from "./toml.ts";

/** A value takes the place of the old one; a new key goes to its table, and a new table to the end. */
export function setInToml(text: string, path: Path, value: unknown): string {
  const { eol } = detectFormatting(text);
  const statements = statementsIn(text);
  const old = statements.find((statement) => statement.kind === "value" && isSame(statement, path));
  if (old !== undefined) return text.slice(0, old.valueStart) + inline(value) + text.slice(old.valueEnd);
  if (statements.some((statement) => isUnder(statement, path))) return setInToml(removeInToml(text, path), path, value);
  const table = statements.find((statement) => statement.kind === "table" && isSame(statement, path.slice(0, -1)));
  if (table === undefined) return appended(text, tableText(path, value).replaceAll("\n", eol), eol);
  const { end } = findLastStatement(table, statements);
  const line = `${keyText(path.at(-1) ?? "")} = ${inline(value)}${eol}`;
  const isEnded = text.slice(0, end).endsWith("\n");
  return `${text.slice(0, end)}${isEnded ? "" : eol}${line}${text.slice(end)}`;
}

/** With the tables inside of it. */
export function removeInToml(text: string, path: Path): string {
  const statements = statementsIn(text);
  let result = text;
  for (const statement of statements.toReversed()) {
    if (!isUnder(statement, path)) continue;
    const isTable = statement.kind === "table";
    result = isTable ? withoutTable(result, statement.start, statement.end) : without(result, statement);
  }
  return result;
}

function isSame({ path }: Statement, other: Path): boolean {
  return path.length === other.length && path.every((key, index) => key === other[index]);
}

/** Returns the last statement of a table. */
function findLastStatement(table: Statement, statements: readonly Statement[]): Statement {
  const after = statements.slice(statements.indexOf(table) + 1);
  const next = after.findIndex(({ kind }) => kind === "table");
  return after[(next < 0 ? after.length : next) - 1] ?? table;
}

function appended(text: string, table: string, eol: string): string {
  // At the end, a line without a table of its own would belong to the last one; the check afterwards refuses that.
  if (text.trim() === "") return text + table;
  const gap = text.endsWith(eol + eol) ? "" : text.endsWith("\n") ? eol : eol + eol;
  return text + gap + table;
}

/** A table of its own, or one line at the top. */
function tableText(path: Path, value: unknown): string {
  if (!isRecord(value)) return `${path.map(keyText).join(".")} = ${inline(value)}\n`;
  const lines = Object.entries(value).map(([key, item]) => `${keyText(key)} = ${inline(item)}\n`);
  return `[${path.map(keyText).join(".")}]\n${lines.join("")}`;
}

/** With the empty lines before its header, so that those after it part what is left. */
function withoutTable(text: string, start: number, end: number): string {
  const before = text.slice(0, start).replace(/(?:[ \t]*\r?\n)+[ \t]*$/, (gap) => gap.match(/\r?\n/)?.[0] ?? "");
  return before.trim() === "" ? before + text.slice(end).replace(/^(?:[ \t]*\r?\n)+/, "") : before + text.slice(end);
}

function without(text: string, { start, end }: Statement): string {
  return text.slice(0, text.lastIndexOf("\n", start - 1) + 1) + text.slice(end);
}

function keyText(key: string | number): string {
  return /^[\w-]+$/.test(String(key)) ? String(key) : JSON.stringify(String(key));
}

/** On one line. */
function inline(value: unknown): string {
  if (typeof value === "string") return JSON.stringify(value).replaceAll("\u007F", String.raw`\u007f`);
  if (Array.isArray(value)) return `[${value.map(inline).join(", ")}]`;
  if (!isRecord(value)) return JSON.stringify(value);
  const pairs = Object.entries(value).map(([key, item]) => `${keyText(key)} = ${inline(item)}`);
  return pairs.length === 0 ? "{}" : `{ ${pairs.join(", ")} }`;
}
