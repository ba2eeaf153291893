import { hash } from "node:crypto";

/** More values than the JSON of one call can hold; values beyond the limit do not affect the digest. */
const MAX_VALUES = 5_000_000;

const SHORT_DIGITS = 16;

/** SHA-256 of the canonical text of a value, hexadecimal, first 16 digits: enough to distinguish calls in a record. */
export function hashValue(value: unknown): string {
  return hashValueFully(value).slice(0, SHORT_DIGITS);
}

/** All 64 digits, for uses where a collision would be a security problem. */
export function hashValueFully(value: unknown): string {
  return hash("sha256", canonicalText(value));
}

/**
 * Canonical JSON (RFC 8785): no spaces, keys in the order of their UTF-16 units. Dates, bytes and other values that JSON does
 * not know get texts that are not valid JSON. Accepts any depth and terminates on circular references.
 */
export function canonicalText(value: unknown): string {
  const parts: string[] = [];
  /** A stack of what is still to be written: texts as they are, values boxed. */
  const pending: (string | Boxed)[] = [{ value }];
  for (let values = 0; pending.length > 0 && values < MAX_VALUES;) {
    const next = pending.pop() ?? "";
    if (typeof next === "string") {
      parts.push(next);
      continue;
    }
    values++;
    // Eight times faster, and most records, arguments and rows are such objects.
    if (isFlatAndSorted(next.value)) parts.push(JSON.stringify(next.value));
    else if (Array.isArray(next.value)) pushArray(next.value, pending);
    else if (isStructure(next.value)) pushObject(next.value, pending);
    else parts.push(leafText(next.value));
  }
  return parts.join("");
}

/** True for a plain object of texts, finite numbers and booleans, whose keys are in the canonical order already. */
function isFlatAndSorted(value: unknown): boolean {
  if (typeof value !== "object" || value === null || Object.getPrototypeOf(value) !== Object.prototype) return false;
  let previous = "";
  for (const [key, member] of Object.entries(value)) {
    const isLeaf = typeof member === "string" || typeof member === "boolean" || Number.isFinite(member);
    if (!isLeaf || key < previous) return false;
    previous = key;
  }
  return true;
}

interface Boxed {
  readonly value: unknown;
}

function pushArray(array: readonly unknown[], pending: (string | Boxed)[]): void {
  pending.push("]");
  for (let at = array.length - 1; at >= 0; at--) pending.push({ value: array[at] }, at === 0 ? "" : ",");
  pending.push("[");
}

function pushObject(object: object, pending: (string | Boxed)[]): void {
  const entries = Object.entries(object).filter(([, value]) => value !== undefined);
  // The default order of strings is that of their UTF-16 units, which RFC 8785 asks for.
  entries.sort(([a], [b]) => (a < b ? 1 : -1));
  pending.push("}");
  for (const [at, [key, value]] of entries.entries())
    pending.push({ value }, `${at === entries.length - 1 ? "" : ","}${JSON.stringify(key)}:`);
  pending.push("{");
}

function isStructure(value: unknown): value is object {
  return typeof value === "object" && value !== null && !(value instanceof Date) && !ArrayBuffer.isView(value);
}

function leafText(value: unknown): string {
  if (typeof value === "string") return JSON.stringify(value);
  if (typeof value === "bigint") return `${value}n`;
  if (value instanceof Date) return `date(${value.getTime()})`;
  if (ArrayBuffer.isView(value))
    return `bytes(${Buffer.from(value.buffer, value.byteOffset, value.byteLength).toString("base64")})`;
  return typeof value === "function" || typeof value === "symbol" ? typeof value : String(value);
}
