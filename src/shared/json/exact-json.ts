import { randomBytes } from "node:crypto";

import { truncateText } from "../format-text.ts";

/**
 * JSON has numbers of any length and form, and `JSON.parse` keeps neither: it rounds long integers, and `1.0` becomes 1. Here
 * they pass through as marks: strings that begin with a random text that no other process knows. A parsed value has a BigInt
 * in place of an integer that a number cannot hold, and the nearest number in place of any other, with a note on how it was
 * written. Both have their digits again when they are written. A text that comes in has other marks than one that goes out:
 * an error may quote a text that came in, and who knows the marks of texts that go out could rewrite them.
 */
const READ_MARK = createMark();
const WRITE_MARK = createMark();

function createMark(): string {
  return `exact-${randomBytes(9).toString("base64url")}:`;
}

/** A text without any of these has no number to mark. */
const MAY_NEED_MARKS = /\d{16}|\d[eE]|\d\.\d*0(?!\d)|-0|0\.0{6}/;

const MAY_NEED_INTEGER_MARKS = /\d{16}/;

/**
 * Limit on the marks of one text for numbers whose values `JSON.parse` keeps, and on those for other numbers: a mark is longer than its
 * number. Numbers after them are read as `JSON.parse` reads them.
 */
const MAX_MARKS = 100_000;

const QUOTE = 0x22;
const BACKSLASH = 0x5c;
const MINUS = 0x2d;

/** False as long as no text had a number to mark, so that values need not be searched. */
let hasMarked = false;

/**
 * Returns JSON with marks in place of the numbers that `JSON.parse` and `JSON.stringify` would change; the same text if there are none.
 * In a message of JSON-RPC, its id and the code of its error stay numbers; of `integers`, only those are marked that a number cannot
 * hold.
 */
export function markNumbers(json: string, content: "message" | "value" | "integers" = "message"): string {
  if (!(content === "integers" ? MAY_NEED_INTEGER_MARKS : MAY_NEED_MARKS).test(json)) return json;
  const parts: string[] = [];
  let copied = 0;
  let depth = 0;
  const left = { equal: MAX_MARKS, other: MAX_MARKS };
  for (let at = 0; at < json.length; at++) {
    const unit = json.charCodeAt(at);
    if (unit === QUOTE) at = findStringEnd(json, at);
    else if (unit === 0x5b || unit === 0x7b) depth++;
    else if (unit === 0x5d || unit === 0x7d) depth--;
    else if (isDigit(unit) || unit === MINUS) {
      const { end, form } = findNumberEnd(json, at);
      const kind = form === "long" ? "other" : "equal";
      if (form !== "natural" && left[kind] > 0) {
        const number = json.slice(at, end);
        const isMarked =
          content === "integers"
            ? isLongInteger(number)
            : isChangedByJson(number) && (content === "value" || !isOfProtocol(json, at, depth));
        if (isMarked) {
          parts.push(json.slice(copied, at), `"${READ_MARK}${number}"`);
          copied = end;
          left[kind]--;
        }
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
  constructor(number: string) {
    super(`the number ${number.slice(0, QUOTED_DIGITS)}, which is beyond the range of numbers`);
  }
}

/** Digits of a number that an error quotes. */
const QUOTED_DIGITS = 40;

/** How the numbers in an object or list were written, by their keys. A spread copies it; JSON and loops do not see a symbol. */
const WRITTEN = Symbol("written numbers");

/** By names of objects and places in lists. */
type WrittenNumbers = ReadonlyMap<string | number, string>;

/** Reads an integer that a number cannot hold; `undefined` for another text. */
export function parseLongInteger(text: string): bigint | undefined {
  if (!NUMBER.test(text) || !isLongInteger(text)) return undefined;
  hasMarked = true;
  return BigInt(text);
}

/** Replaces the marks in a parsed value by numbers and BigInts, in place; says whether it had any. */
export function restoreNumbers(root: object): boolean {
  if (!hasMarked) return false;
  let found = false;
  const pending: object[] = [root];
  for (let parent = pending.pop(); parent !== undefined; parent = pending.pop()) {
    let written: Map<string | number, string> | undefined;
    forEachMember(parent, (value, key) => {
      if (typeof value === "object" && value !== null) pending.push(value);
      else if (typeof value === "string" && value.startsWith(READ_MARK)) {
        const number = value.slice(READ_MARK.length);
        const isLong = isLongInteger(number);
        Reflect.set(parent, key, isLong ? BigInt(number) : Number(number));
        if (!isLong) (written ??= new Map<string | number, string>()).set(key, number);
        found = true;
      }
    });
    if (written !== undefined) Reflect.set(parent, WRITTEN, written);
  }
  return found;
}

/** Lists may be long: they are walked without their keys as texts. */
function forEachMember(parent: object, visit: (value: unknown, key: string | number) => void): void {
  if (Array.isArray(parent)) parent.forEach(visit);
  else for (const [key, value] of Object.entries(parent) as [string, unknown][]) visit(value, key);
}

/** Returns the numbers of an object or list that JSON would write in another way, as they were written, by their keys. */
export function getWrittenNumbers(parent: object): WrittenNumbers | undefined {
  return hasMarked ? (Reflect.get(parent, WRITTEN) as WrittenNumbers | undefined) : undefined;
}

/** Notes in a copy of an object or list how its numbers were written, as far as `isKept` allows; returns the copy. */
export function keepWrittenNumbers<Copy extends object>(
  original: object,
  copy: Copy,
  isKept: (written: string) => boolean = () => true,
): Copy {
  const numbers = getWrittenNumbers(original);
  if (numbers !== undefined) Reflect.set(copy, WRITTEN, new Map([...numbers].filter(([, written]) => isKept(written))));
  return copy;
}

/**
 * Parses the JSON of a value; an integer that a number cannot hold exactly becomes a BigInt, and `1e400` infinite, both with a note on
 * how they were written.
 */
export function parseValueExactly(json: string): unknown {
  const root = { value: JSON.parse(markNumbers(json, "value")) as unknown };
  restoreNumbers(root);
  return root.value;
}

/** As `parseValueExactly`, without the notes on how other numbers were written, which take ten times as long as the rest. */
export function parseIntegersExactly(json: string): unknown {
  const root = { value: JSON.parse(markNumbers(json, "integers")) as unknown };
  restoreNumbers(root);
  return root.value;
}

/** Parses a message of JSON-RPC; an integer that a number cannot hold exactly becomes a BigInt. Throws a `NumberRangeError` for `1e400`. */
export function parseExactly(json: string): unknown {
  const root = { value: JSON.parse(markNumbers(json)) as unknown };
  if (restoreNumbers(root)) requireRange(root);
  return root.value;
}

function requireRange(root: object): void {
  const pending: object[] = [root];
  for (let parent = pending.pop(); parent !== undefined; parent = pending.pop()) {
    const written = getWrittenNumbers(parent);
    forEachMember(parent, (value, key) => {
      if (typeof value === "object" && value !== null) pending.push(value);
      else if (value === Infinity || value === -Infinity)
        throw new NumberRangeError(written?.get(key) ?? String(value));
    });
  }
}

/** Replaces the BigInts in a parsed value by the nearest numbers, in place, except in one part of it. */
export function roundBigInts(root: object, except?: unknown): void {
  if (!hasMarked) return;
  const pending: object[] = [root];
  for (let parent = pending.pop(); parent !== undefined; parent = pending.pop()) {
    if (parent === except) continue;
    forEachMember(parent, (value, key) => {
      if (typeof value === "object" && value !== null) pending.push(value);
      else if (typeof value === "bigint") Reflect.set(parent, key, Number(value));
    });
  }
}

/** Returns a copy with marks in place of numbers, for code that writes JSON; the value itself if it has none to mark. */
export function numbersToMarks<Value>(value: Value): Value {
  return hasMarked ? (mapNumbers(value, (_number, written) => WRITE_MARK + written) as Value) : value;
}

/** Replaces the marks in JSON, or a mark alone, by their digits. Of a text inside JSON, only the mark goes: its quotes belong to the text. */
export function removeMarks(text: string): string {
  return hasMarked && text.includes(WRITE_MARK) ? text.replaceAll(WRITTEN_MARK, "$1$2") : text;
}

/** Writes JSON, with each number as it was written. */
export function stringifyExactly(value: unknown): string {
  return removeMarks(JSON.stringify(numbersToMarks(value)));
}

const WRITTEN_NUMBER = String.raw`-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?`;

/** A whole text of JSON that is a mark, or a mark alone. */
const WRITTEN_MARK = new RegExp(`(?<!\\\\)"${WRITE_MARK}(${WRITTEN_NUMBER})"|${WRITE_MARK}(${WRITTEN_NUMBER})`, "g");

/** Returns a copy with the numbers as text that a number cannot hold, and these texts; the value itself if there are none. */
export function inexactToText<Value>(value: Value): { readonly value: Value; readonly texts: readonly string[] } {
  const texts: string[] = [];
  if (!hasMarked) return { value, texts };
  const toText = (number: bigint | number, written: string): unknown => {
    if (typeof number === "number" && !isBeyondRange(number)) return number;
    texts.push(written);
    return written;
  };
  return { value: mapNumbers(value, toText) as Value, texts };
}

/** `the integer 9007199254740993 as text, because a number cannot hold it exactly` */
export function describeInexact([first = "", ...rest]: readonly string[]): string {
  const kind = [first, ...rest].every((number) => /^-?\d+$/.test(number)) ? "integer" : "number";
  const digits = truncateText(first, NOTED_DIGITS);
  if (rest.length === 0) return `the ${kind} ${digits} as text, because a number cannot hold it exactly`;
  return `${digits} and ${rest.length} other ${kind}s as text, because numbers cannot hold them exactly`;
}

/** Digits of a number that a note quotes. */
const NOTED_DIGITS = 400;

function isBeyondRange(number: bigint | number): boolean {
  return number === Infinity || number === -Infinity;
}

/**
 * Returns a copy with a replacement of each BigInt, and of each number that JSON would write in another way; a part without any is
 * not copied.
 */
export function mapNumbers(value: unknown, replace: (number: bigint | number, written: string) => unknown): unknown {
  const copy = (current: unknown, written?: string): unknown => {
    if (typeof current === "bigint") return replace(current, String(current));
    if (typeof current === "number" && written !== undefined && Object.is(Number(written), current))
      return replace(current, written);
    if (current === Infinity || current === -Infinity) return replace(current, current > 0 ? "1e999" : "-1e999");
    if (Array.isArray(current)) return copyList(current, copy);
    return typeof current === "object" && current !== null ? copyRecord(current, copy) : current;
  };
  return copy(value);
}

type CopyMember = (value: unknown, written?: string) => unknown;

function copyList(list: readonly unknown[], copy: CopyMember): readonly unknown[] {
  const numbers = getWrittenNumbers(list);
  let copied: unknown[] | undefined;
  list.forEach((value, index) => {
    const member = copy(value, numbers?.get(index));
    if (copied === undefined && !Object.is(member, value)) copied = list.slice(0, index);
    copied?.push(member);
  });
  return copied ?? list;
}

function copyRecord(record: object, copy: CopyMember): object {
  const prototype: unknown = Object.getPrototypeOf(record);
  if (prototype !== Object.prototype && prototype !== null) return record;
  const numbers = getWrittenNumbers(record);
  const entries = Object.entries(record) as [string, unknown][];
  const copied = entries.map(([key, value]): [string, unknown] => [key, copy(value, numbers?.get(key))]);
  return copied.every(([, value], index) => Object.is(value, entries[index]?.[1]))
    ? record
    : Object.fromEntries(copied);
}

/** True if JSON would write a number in another way. A text that is not a number of JSON stays as it is. */
function isChangedByJson(number: string): boolean {
  if (number.length < MIN_CHANGED_LENGTH && PLAIN.test(number)) return false;
  return String(Number(number)) !== number && NUMBER.test(number);
}

/** A longer number has more digits than each number keeps. */
const MIN_CHANGED_LENGTH = 16;

/** Short numbers that JSON writes as they are: most of them. */
const PLAIN = /^(?:\d+|-[1-9]\d*|-?(?!0\.0{6})\d+\.\d*[1-9])$/;

const NUMBER = /^-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?$/;

function isLongInteger(number: string): boolean {
  const value = Number(number);
  return INTEGER.test(number) && !Number.isSafeInteger(value) && !isBeyondRange(value);
}

const INTEGER = /^-?\d+$/;

/** True for the id of a message and the code of an error, which the SDK reads before anything else. */
function isOfProtocol(json: string, at: number, depth: number): boolean {
  return depth <= 1 || (depth === 2 && /"code"\s{0,9}:\s{0,9}$/.test(json.slice(Math.max(0, at - 30), at)));
}

function isDigit(unit: number): boolean {
  return unit >= 0x30 && unit <= 0x39;
}

/** `natural`: few digits alone, which JSON writes as they are. `long`: `JSON.parse` may not keep the value. `short`: others. */
type NumberForm = "natural" | "short" | "long";

/** Finds the end of a number: digits, a fraction and an exponent. */
function findNumberEnd(json: string, start: number): { readonly end: number; readonly form: NumberForm } {
  let end = start;
  let form: NumberForm = "natural";
  for (; end < json.length; end++) {
    const unit = json.charCodeAt(end);
    if (unit === 0x65 || unit === 0x45) form = "long";
    else if (unit === 0x2e || unit === 0x2b || unit === MINUS) form = form === "long" ? "long" : "short";
    else if (!isDigit(unit)) break;
  }
  return { end, form: end - start >= MIN_CHANGED_LENGTH ? "long" : form };
}

/** Finds the end of the string that begins at `start`: the next quote with an even number of backslashes before it. */
export function findStringEnd(text: string, start: number): number {
  for (let end = text.indexOf('"', start + 1); end >= 0; end = text.indexOf('"', end + 1)) {
    let before = end - 1;
    while (text.charCodeAt(before) === BACKSLASH) before--;
    if ((end - before) % 2 === 1) return end;
  }
  return text.length;
}
