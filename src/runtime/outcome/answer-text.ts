import { inferSchema } from "../../observed/index.ts";
import type { Limits } from "../../model/limits.ts";
import { isRecord } from "../../model/json.ts";
import { formatSchemaType } from "../../registry/index.ts";
import { cutText } from "../../shared/format-text.ts";

/** The answer of a run that printed nothing and whose result is undefined. */
export const NO_OUTPUT = "(no output)";

/** Characters of one token, as an estimate. */
const TOKEN_CHARACTERS = 4;

/** Limits of what is shown of a large result. */
const MAX_TYPE = 2_000;
const MAX_BEGINNING = 8_000;
const MAX_ITEMS = 3;
const MAX_MEMBERS = 40;
const MAX_TEXT = 300;
const MAX_DEPTH = 6;
const MAX_TEXT_BEGINNING = 2_000;

/** Tests whether a text is more than a model should read. */
export function isLarge(text: string, limits: Limits): boolean {
  return text.length > getMaxAnswer(limits);
}

/** Returns the characters of a result that a model should read. */
export function getMaxAnswer({ answerTokens }: Limits): number {
  return answerTokens * TOKEN_CHARACTERS;
}

/** Formats a value as text. A string is in quotes where it could be taken for another value. */
export function formatValue(value: unknown, json: string): string {
  if (value instanceof Date && !Number.isNaN(value.getTime())) return value.toISOString();
  if (typeof value !== "string") return json;
  return looksLikeJson(value) ? JSON.stringify(value) : value;
}

function looksLikeJson(text: string): boolean {
  const trimmed = text.trim();
  if (/^(?:\{[^]*\}|\[[^]*\]|"[^]*"|true|false|null|undefined)$/.test(trimmed)) return true;
  return trimmed !== "" && trimmed.length < 400 && Number.isFinite(Number(trimmed));
}

/** `a list of 5,000 items` */
export function summarizeValue(value: unknown): string {
  if (typeof value === "string") return `a text of ${formatCount(value.length)} characters`;
  if (value instanceof Uint8Array) return `${formatCount(value.length)} bytes`;
  if (Array.isArray(value)) return `a list of ${formatCount(value.length)} items`;
  return isRecord(value) ? `an object with ${formatCount(Object.keys(value).length)} members` : "a value";
}

/** Describes a large value: what it is, its type and how it begins. */
export function describeLargeValue(value: unknown, characters: number): string {
  const heading = `The result is ${summarizeValue(value)}`;
  if (typeof value === "string") return `${heading}. It begins:\n${cutText(value, MAX_TEXT_BEGINNING)}…`;
  if (value instanceof Uint8Array)
    return `${heading}. They begin, in base64:\n${beginBytes(value, MAX_TEXT_BEGINNING)}`;
  const type = cutText(formatSchemaType(inferSchema(value)), MAX_TYPE);
  const beginning = JSON.stringify(shorten(value, 0));
  const excerpt = beginning.length > MAX_BEGINNING ? `${cutText(beginning, MAX_BEGINNING)}…` : beginning;
  return `${heading}, ${formatCount(characters)} characters of JSON.\nType: ${type}\nIt begins:\n${excerpt}`;
}

/** The beginning of the JSON of a value that is too large to decode on the host. */
export function describeLargeText(json: string, characters: number): string {
  return `The result has ${formatCount(characters)} characters of JSON. It begins:\n${cutText(json, MAX_BEGINNING)}…`;
}

function formatCount(count: number): string {
  return count.toLocaleString("en-US");
}

function beginBytes(bytes: Uint8Array, characters: number): string {
  return `${Buffer.from(bytes.subarray(0, (characters / 4) * 3)).toString("base64")}…`;
}

/** Returns the value with the first items of each list, the first members of each object and the beginnings of texts. */
function shorten(value: unknown, depth: number): unknown {
  if (typeof value === "string")
    return value.length > MAX_TEXT ? `${cutText(value, MAX_TEXT)}… (${formatCount(value.length)} characters)` : value;
  if (typeof value !== "object" || value === null || value instanceof Date) return value;
  if (value instanceof Uint8Array)
    return `${formatCount(value.length)} bytes, in base64: ${beginBytes(value, MAX_TEXT)}`;
  if (depth >= MAX_DEPTH) return "…";
  if (Array.isArray(value)) {
    const items = value.slice(0, MAX_ITEMS).map((item) => shorten(item, depth + 1));
    return value.length > MAX_ITEMS ? [...items, `… ${formatCount(value.length - MAX_ITEMS)} more`] : items;
  }
  const entries = Object.entries(value);
  const members = entries
    .slice(0, MAX_MEMBERS)
    .map(([name, member]): [string, unknown] => [name, shorten(member, depth + 1)]);
  const rest: [string, unknown][] =
    entries.length > MAX_MEMBERS ? [["…", `${formatCount(entries.length - MAX_MEMBERS)} more`]] : [];
  return Object.fromEntries([...members, ...rest]);
}
