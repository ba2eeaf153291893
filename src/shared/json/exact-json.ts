import { randomUUID } from "node:crypto";

/**
 * JSON has integers of any length, and `JSON.parse` rounds those that a number cannot hold. Here they pass through as marks:
 * strings that begin with a random text that no other process knows. A mark becomes a BigInt on this side, and its digits
 * again when it is written.
 */
const MARK = `exact-${randomUUID()}:`;

/** Marks a number that is beyond the range of numbers. */
const BEYOND_MARK = `${MARK}beyond:`;

/** A text without either has no number to mark: the shortest inexact integer has 16 digits, and 1e309 is too large. */
const MAY_NEED_MARKS = /\d{16}|[eE]\+?\d{3}/;

/** Digits of a number that an error quotes. */
const QUOTED_DIGITS = 40;

const QUOTE = 0x22;
const BACKSLASH = 0x5c;
const MINUS = 0x2d;

/** False as long as no text had a number to mark, so that values need not be searched. */
let hasMarked = false;

/** Returns JSON with marks in place of the numbers that `JSON.parse` would change; the same text if there are none. */
export function markNumbers(json: string): string {
  if (!MAY_NEED_MARKS.test(json)) return json;
  const parts: string[] = [];
  let copied = 0;
  for (let at = 0; at < json.length; at++) {
    const unit = json.charCodeAt(at);
    if (unit === QUOTE) at = findStringEnd(json, at);
    else if (isDigit(unit) || unit === MINUS) {
      const end = findNumberEnd(json, at);
      const mark = createMark(json.slice(at, end));
      if (mark !== undefined) {
        parts.push(json.slice(copied, at), mark);
        copied = end;
      }
      at = end - 1;
    }
  }
  if (copied === 0) return json;
  hasMarked = true;
  return parts.join("") + json.slice(copied);
}

/** The number in a text that is beyond the range of numbers, such as `1e400`. */
export class NumberRangeError extends Error {
  constructor(digits: string) {
    super(`the number ${digits}, which is beyond the range of numbers`);
  }
}

/**
 * Replaces the marks in a parsed value by BigInts, in place; says whether it had any. Throws a `NumberRangeError` for a number
 * beyond the range.
 */
export function restoreNumbers(root: object): boolean {
  if (!hasMarked) return false;
  let found = false;
  const pending: object[] = [root];
  for (let parent = pending.pop(); parent !== undefined; parent = pending.pop()) {
    for (const [key, value] of Object.entries(parent) as [string, unknown][]) {
      if (typeof value === "object" && value !== null) pending.push(value);
      else if (typeof value === "string" && value.startsWith(MARK)) {
        Reflect.set(parent, key, readMark(value));
        found = true;
      }
    }
  }
  return found;
}

/** Parses JSON; an integer that a number cannot hold exactly becomes a BigInt. Throws a `NumberRangeError` for `1e400`. */
export function parseExactly(json: string): unknown {
  const root = { value: JSON.parse(markNumbers(json)) as unknown };
  restoreNumbers(root);
  return root.value;
}

/** Replaces the BigInts in a parsed value by the nearest numbers, in place, except in one part of it. */
export function roundBigInts(root: object, except?: unknown): void {
  if (!hasMarked) return;
  const pending: object[] = [root];
  for (let parent = pending.pop(); parent !== undefined; parent = pending.pop()) {
    if (parent === except) continue;
    for (const [key, value] of Object.entries(parent) as [string, unknown][]) {
      if (typeof value === "object" && value !== null) pending.push(value);
      else if (typeof value === "bigint") Reflect.set(parent, key, Number(value));
    }
  }
}

/** Returns a copy with marks in place of BigInts, for code that writes JSON; the value itself if there are none. */
export function bigIntsToMarks<Value>(value: Value): Value {
  return hasMarked ? (mapBigInts(value, (integer) => MARK + integer) as Value) : value;
}

/** Replaces the marks in a text by their digits. */
export function removeMarks(text: string): string {
  return hasMarked ? text.replaceAll(WRITTEN_MARK, "$1") : text;
}

/** Writes JSON; a BigInt becomes its digits. */
export function stringifyExactly(value: unknown): string {
  try {
    return JSON.stringify(value);
  } catch (thrown) {
    if (!(thrown instanceof TypeError)) throw thrown;
    const json = JSON.stringify(value, (_key, member: unknown) =>
      typeof member === "bigint" ? `${MARK}${member}` : member,
    );
    return json.replaceAll(WRITTEN_MARK, "$1");
  }
}

/** A mark in JSON, or alone. */
const WRITTEN_MARK = new RegExp(`"?${MARK}(-?\\d+)"?`, "g");

/** Returns a copy with each restored BigInt as text, and these texts; the value itself if there are none. */
export function bigIntsToText<Value>(value: Value): { readonly value: Value; readonly texts: readonly string[] } {
  const texts: string[] = [];
  if (!hasMarked) return { value, texts };
  const toText = (integer: bigint): string => {
    texts.push(String(integer));
    return String(integer);
  };
  return { value: mapBigInts(value, toText) as Value, texts };
}

/** Returns a copy with a replacement of each BigInt; a part without BigInts is not copied. */
export function mapBigInts(value: unknown, replace: (integer: bigint) => unknown): unknown {
  const copy = (current: unknown): unknown => {
    if (typeof current === "bigint") return replace(current);
    if (Array.isArray(current)) return copyList(current, copy);
    return typeof current === "object" && current !== null ? copyRecord(current, copy) : current;
  };
  return copy(value);
}

function copyList(list: readonly unknown[], copy: (value: unknown) => unknown): readonly unknown[] {
  const copied = list.map(copy);
  return copied.every((value, index) => value === list[index]) ? list : copied;
}

function copyRecord(record: object, copy: (value: unknown) => unknown): object {
  const prototype: unknown = Object.getPrototypeOf(record);
  if (prototype !== Object.prototype && prototype !== null) return record;
  const entries = Object.entries(record) as [string, unknown][];
  const copied = entries.map(([key, value]): [string, unknown] => [key, copy(value)]);
  return copied.every(([, value], index) => value === entries[index]?.[1]) ? record : Object.fromEntries(copied);
}

function createMark(number: string): string | undefined {
  const value = Number(number);
  if (value === Infinity || value === -Infinity) return `"${BEYOND_MARK}${number.slice(0, QUOTED_DIGITS)}"`;
  if (!INTEGER.test(number) || Number.isSafeInteger(value) || String(value) === number) return undefined;
  return `"${MARK}${number}"`;
}

const INTEGER = /^-?\d+$/;

function readMark(mark: string): bigint {
  if (mark.startsWith(BEYOND_MARK)) throw new NumberRangeError(mark.slice(BEYOND_MARK.length));
  return BigInt(mark.slice(MARK.length));
}

function isDigit(unit: number): boolean {
  return unit >= 0x30 && unit <= 0x39;
}

/** Finds the end of a number: digits, a fraction and an exponent. */
function findNumberEnd(json: string, start: number): number {
  let end = start + 1;
  while (end < json.length && NUMBER_UNITS.has(json[end] ?? "")) end++;
  return end;
}

const NUMBER_UNITS: ReadonlySet<string> = new Set("0123456789.eE+-");

/** Finds the end of the string that begins at `start`: the next quote with an even number of backslashes before it. */
export function findStringEnd(text: string, start: number): number {
  for (let end = text.indexOf('"', start + 1); end >= 0; end = text.indexOf('"', end + 1)) {
    let before = end - 1;
    while (text.charCodeAt(before) === BACKSLASH) before--;
    if ((end - before) % 2 === 1) return end;
  }
  return text.length;
}
