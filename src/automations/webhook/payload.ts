import { getValueAt } from "../../model/json.ts";
import { quote } from "../../shared/format-text.ts";
import { findStringEnd, parseIntegersExactly } from "../../shared/json/exact-json.ts";
import { findShapeExcess } from "../../shared/json/json-shape.ts";
import { MAX_FOREIGN_VALUES } from "../../shared/json/run-input.ts";
import { encodeUtf8 } from "../../shared/json/utf8.ts";
import { type DeliveryHeaders, DeliveryFlaw, findHeader } from "./delivery-flaw.ts";

/** The value of `device.input()` in a run that a delivery started. It comes from outside. */
export interface DeliveryInput {
  /** JSON as a value, a form as an object of texts, any other body as a text; `null` without a body. */
  readonly body: unknown;
  /** `content-type`, and the headers of the service, which are not signed. By their names in lower case. */
  readonly headers: Readonly<Record<string, string>>;
  /** The kind of the event, as the service says it: `push`. */
  readonly event?: string;
  /** The id of the delivery. It is the same when the service sends the delivery again. */
  readonly delivery: string;
  /** The time in ISO 8601. */
  readonly receivedAt: string;
}

export interface DeliveryBody {
  readonly value: unknown;
  /** The object or list of JSON that the bytes are; `undefined` for others. It does not depend on headers, which are not signed. */
  readonly signedJson: unknown;
}

/** More than a form of a service has. */
const MAX_FIELDS = 1_000;

/**
 * Parses the body of a delivery. Objects and lists of JSON count as such whatever the type says. Integers that a number cannot hold
 * exactly are BigInts. `formField` is the field of a form with JSON. Throws a `DeliveryFlaw`.
 */
export function parseDeliveryBody(bytes: Uint8Array, headers: DeliveryHeaders, formField?: string): DeliveryBody {
  const type = findHeader(headers, "content-type") ?? "";
  const text = decodeBody(bytes, type, findHeader(headers, "content-encoding") ?? "identity");
  const isJson = JSON_TYPE.test(type);
  if (isJson || /^\s*[[{]/.test(text)) {
    const value = parseJson(text, "it");
    if (value !== undefined) return { value, signedJson: typeof value === "object" ? value : undefined };
    if (isJson) throw unreadable("it is not valid JSON");
  }
  const value = text === "" ? null : FORM_TYPE.test(type) ? parseForm(text, formField) : text;
  return { value, signedJson: undefined };
}

function decodeBody(bytes: Uint8Array, type: string, encoding: string): string {
  if (encoding !== "identity") throw unreadable(`its Content-Encoding is not supported: ${quote(encoding, 50)}`);
  const charset = /;\s*charset\s*=\s*"?([^\s;"]{1,50})/i.exec(type)?.[1] ?? "utf-8";
  if (!/^(?:utf-?8|us-ascii)$/i.test(charset)) throw unreadable(`its charset is not supported: ${quote(charset, 50)}`);
  const text = encodeUtf8(Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength));
  if (text === undefined) throw unreadable("it is not valid UTF-8");
  return text;
}

const JSON_TYPE = /^application\/(?:[\w.-]+\+)?json\s*(?:;|$)/i;
const FORM_TYPE = /^application\/x-www-form-urlencoded\s*(?:;|$)/i;

function unreadable(why: string): DeliveryFlaw {
  return new DeliveryFlaw("unreadable", `the body cannot be read: ${why}`);
}

const [SPACE, QUOTE, COMMA] = [0x20, 0x22, 0x2c];
const [OPEN_LIST, CLOSE_LIST, OPEN_OBJECT, CLOSE_OBJECT] = [0x5b, 0x5d, 0x7b, 0x7d];

/** Parses JSON; `undefined` for another text. Throws for one whose parsing would take too long. */
function parseJson(json: string, subject: string): unknown {
  const shape = findShapeExcess(json);
  if (shape !== undefined) throw unreadable(`${subject} has ${shape}`);
  if (countValues(json) > MAX_FOREIGN_VALUES) throw unreadable(`${subject} has more than ${MAX_FOREIGN_VALUES} values`);
  if (hasManyLongIntegers(json))
    throw unreadable(`${subject} has more than ${MAX_LONG_INTEGERS} integers of 16 digits or more`);
  try {
    return parseIntegersExactly(json);
  } catch {
    return undefined;
  }
}

/** Those of 20 digits take 38 times as long as other numbers (2.5 and 0.065 µs, measured on Node 20). */
const MAX_LONG_INTEGERS = 5_000;

const MIN_LONG_DIGITS = 16;

function hasManyLongIntegers(json: string): boolean {
  let count = 0;
  for (let at = 0; at < json.length && count <= MAX_LONG_INTEGERS; at++) {
    const unit = json.charCodeAt(at);
    if (unit === QUOTE) at = findStringEnd(json, at);
    else if (isDigit(unit)) {
      const end = findNumberEnd(json, at);
      if (end - at >= MIN_LONG_DIGITS && /^\d*$/.test(json.slice(at, end))) count++;
      at = end - 1;
    }
  }
  return count > MAX_LONG_INTEGERS;
}

function findNumberEnd(json: string, start: number): number {
  let end = start + 1;
  while (end < json.length && isOfNumber(json.charCodeAt(end))) end++;
  return end;
}

function isDigit(unit: number): boolean {
  return unit >= 0x30 && unit <= 0x39;
}

/** Digits, `+`, `-`, `.` and the letters of an exponent. */
function isOfNumber(unit: number): boolean {
  return isDigit(unit) || unit === 0x2b || unit === 0x2d || unit === 0x2e || unit === 0x45 || unit === 0x65;
}

/** Counts the values of a text of JSON. A run takes fewer as its input, and parsing them takes long. */
function countValues(json: string): number {
  let count = 1;
  let isFirst = false;
  for (let at = 0; at < json.length; at++) {
    const unit = json.charCodeAt(at);
    if (unit <= SPACE) continue;
    if (isFirst && unit !== CLOSE_LIST && unit !== CLOSE_OBJECT) count++;
    isFirst = unit === OPEN_LIST || unit === OPEN_OBJECT;
    if (unit === QUOTE) at = findStringEnd(json, at);
    else if (unit === COMMA) count++;
  }
  return count;
}

/** A field that is there several times is a list. */
function parseForm(text: string, jsonField: string | undefined): unknown {
  if (text.split("&", MAX_FIELDS + 1).length > MAX_FIELDS) throw unreadable(`it has more than ${MAX_FIELDS} fields`);
  const fields = new Map<string, string | string[]>();
  for (const [name, value] of new URLSearchParams(text)) {
    const previous = fields.get(name);
    if (Array.isArray(previous)) previous.push(value);
    else fields.set(name, previous === undefined ? value : [previous, value]);
  }
  const json = jsonField === undefined ? undefined : fields.get(jsonField);
  if (typeof json !== "string") return Object.fromEntries(fields);
  const value = parseJson(json, `its field ${jsonField}`);
  if (value === undefined) throw unreadable(`its field ${jsonField} is not valid JSON`);
  return value;
}

const MAX_SHOWN_UNITS = 1_000;

/** Selects the headers that a program may read. */
export function selectDeliveryHeaders(
  headers: DeliveryHeaders,
  names: readonly string[],
): Readonly<Record<string, string>> {
  return Object.fromEntries(
    ["content-type", ...names].flatMap((name) => {
      const value = Object.hasOwn(headers, name) ? [headers[name] ?? []].flat().join(", ") : "";
      return value === "" ? [] : [[name, value.slice(0, MAX_SHOWN_UNITS)]];
    }),
  );
}

/** Returns a text or a number at a path in a body; `undefined` for anything else. */
export function findText(body: unknown, path: readonly string[]): string | undefined {
  const value = getValueAt(body, path);
  if (typeof value === "string") return value === "" ? undefined : value;
  return typeof value === "bigint" || Number.isFinite(value) ? String(value) : undefined;
}
