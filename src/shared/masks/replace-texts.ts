import { getWrittenNumbers, keepWrittenNumbers } from "../json/exact-json.ts";
import { MASK, MIN_SECRET_LENGTH } from "./mask.ts";

/** Deeper parts of a value that holds a secret are masked whole. */
const MAX_DEPTH = 500;

type Mask = (text: string) => string;

/** A value with `replace` applied to every text in it; the same value if no text changes. */
export function replaceTexts<Value>(value: Value, replace: Mask): Value {
  return isChanged(value, replace) ? (toMaskedCopy(value, replace, new Map()) as Value) : value;
}

function isChanged(value: unknown, mask: Mask): boolean {
  const pending: unknown[] = [value];
  const visited = new Set<unknown>();
  while (pending.length > 0) {
    const next = pending.pop();
    if (!Object.is(maskedLeaf(next, mask), next)) return true;
    if (typeof next !== "object" || next === null || visited.has(next)) continue;
    visited.add(next);
    for (const part of getParts(next)) pending.push(part);
  }
  return false;
}

/** Texts, and what may hold some. Numbers count as they were written. */
function getParts(value: object): Iterable<unknown> {
  const written = getWrittenNumbers(value);
  return written === undefined ? getMembers(value) : [...getMembers(value), ...written.values()];
}

/** Objects of every class have the fields that JSON writes; bytes have none. */
function getMembers(value: object): Iterable<unknown> {
  if (Array.isArray(value) || value instanceof Set) return value;
  if (value instanceof Map) return [...value].flat();
  if (ArrayBuffer.isView(value) || hasJsonForm(value)) return [];
  return Object.entries(value instanceof Error ? toFields(value) : value).flat();
}

function toFields(error: Error): Readonly<Record<string, unknown>> {
  return { ...Object.fromEntries(Object.entries(error)), name: error.name, message: error.message };
}

function maskedLeaf(value: unknown, mask: Mask): unknown {
  if (typeof value === "string") return mask(value);
  if (typeof value === "object" && value !== null)
    return hasJsonForm(value) ? maskedJsonForm(value, mask) : maskedBytes(value, mask);
  if (typeof value !== "number" && typeof value !== "bigint") return value;
  if (value < MIN_SECRET_NUMBER && value > -MIN_SECRET_NUMBER && Number.isInteger(value)) return value;
  const digits = String(value);
  return digits.length >= MIN_SECRET_LENGTH && mask(digits) !== digits ? MASK : value;
}

/** Whole numbers below it have too few digits for a secret. */
const MIN_SECRET_NUMBER = 10 ** (MIN_SECRET_LENGTH - 2);

interface JsonForm {
  toJSON(): unknown;
}

/** True for an object that JSON writes as what its `toJSON` returns, such as a URL; dates and bytes are encoded otherwise. */
function hasJsonForm(value: object): value is JsonForm {
  if (value instanceof Date || value instanceof Error || ArrayBuffer.isView(value)) return false;
  return "toJSON" in value && typeof value.toJSON === "function";
}

/** Returns what JSON writes for an object, masked, and the same object if that has no secret. */
function maskedJsonForm(value: JsonForm, mask: Mask): unknown {
  const form = value.toJSON();
  // JSON does not ask again for the form of a form.
  const plain = typeof form === "object" && form !== null && hasJsonForm(form) ? { ...form, toJSON: undefined } : form;
  const copy = replaceTexts(plain, mask);
  return copy === plain ? value : copy;
}

/** Returns bytes with the secrets in them masked, and the same object if it is not bytes or has no secret. */
function maskedBytes(value: object, mask: Mask): unknown {
  const bytes = toBytes(value);
  if (bytes === undefined || bytes.length < MIN_SECRET_LENGTH) return value;
  const text = bytes.toString("latin1");
  const maskedText = mask(text);
  if (maskedText === text) return value;
  const copy = Buffer.from(maskedText, "latin1");
  if (Array.isArray(value)) return [...copy];
  if (value instanceof ArrayBuffer) return new Uint8Array(copy).buffer;
  // The items of other arrays have more bytes than one.
  return Buffer.isBuffer(value) ? copy : value instanceof Uint8Array ? new Uint8Array(copy) : MASK;
}

function toBytes(value: object): Buffer | undefined {
  if (Array.isArray(value)) return value.every(isByte) ? Buffer.from(value) : undefined;
  if (value instanceof ArrayBuffer) return Buffer.from(value);
  return ArrayBuffer.isView(value) ? Buffer.from(value.buffer, value.byteOffset, value.byteLength) : undefined;
}

function isByte(item: unknown): item is number {
  return typeof item === "number" && Number.isInteger(item) && item >= 0 && item <= 255;
}

function toMaskedCopy(value: unknown, mask: Mask, copies: Map<unknown, unknown>, depth = 0): unknown {
  const leaf = maskedLeaf(value, mask);
  if (!Object.is(leaf, value) || typeof value !== "object" || value === null) return leaf;
  if (depth > MAX_DEPTH) return MASK;
  if (copies.has(value)) return copies.get(value);
  const copy = (part: unknown): unknown => toMaskedCopy(part, mask, copies, depth + 1);
  if (Array.isArray(value)) {
    const items: unknown[] = [];
    copies.set(value, items);
    for (const item of value) items.push(copy(item));
    return keepWrittenNumbers(value, items, (written) => mask(written) === written);
  }
  if (value instanceof Set) return new Set([...value].map(copy));
  if (value instanceof Map) return new Map([...value].map(([key, item]) => [copy(key), copy(item)]));
  if (!isPlain(value) && !isChanged(value, mask)) return value;
  const fields: Record<string, unknown> = {};
  copies.set(value, fields);
  // Defined, not assigned: a field may be called __proto__.
  for (const [key, item] of Object.entries(value instanceof Error ? toFields(value) : value))
    Object.defineProperty(fields, mask(key), {
      value: copy(item),
      writable: true,
      enumerable: true,
      configurable: true,
    });
  return keepWrittenNumbers(value, fields, (written) => mask(written) === written);
}

function isPlain(value: object): value is Record<string, unknown> {
  const prototype: unknown = Object.getPrototypeOf(value);
  return prototype === null || prototype === Object.prototype;
}
