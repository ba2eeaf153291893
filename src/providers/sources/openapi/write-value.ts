import { isPlainObject } from "../../../model/arguments.ts";
import { getWrittenNumbers } from "../../../shared/json/exact-json.ts";
import { RawJson, writeJson } from "../../../shared/json/raw-json.ts";

/**
 * Writes a value as the text of a parameter: a date as ISO 8601, bytes as base64, null as the empty text, a list or an object as
 * JSON. `written` is how the number was written, if it was read from JSON.
 */
export function toText(value: unknown, written?: string): string {
  if (typeof value === "string") return value;
  if (typeof value === "number" || typeof value === "bigint") return formatNumber(value, written);
  if (value === null || value === undefined) return "";
  if (value instanceof Uint8Array) return Buffer.from(value).toString("base64");
  if (value instanceof Date) return Number.isNaN(value.getTime()) ? "" : value.toISOString();
  return typeof value === "boolean" ? String(value) : toJsonText(value);
}

/** Writes a value as JSON: each number as it was written, bytes as base64. */
export function toJsonText(value: unknown, written?: string): string {
  return writeJson(toJsonValue(value, written));
}

/** Writes an object as JSON from its members. */
export function membersToJson(members: readonly NamedValue[]): string {
  return writeJson(toJsonObject(members));
}

/** Returns the members of a list, each with the number as it was written. */
export function listItems(list: readonly unknown[]): readonly MemberValue[] {
  const written = getWrittenNumbers(list);
  return list.map((value, index) => ({ value, written: written?.get(index) }));
}

/** Returns the members of an object that are defined, each with the number as it was written. */
export function listMembers(record: Readonly<Record<string, unknown>>): readonly NamedValue[] {
  const written = getWrittenNumbers(record);
  return Object.entries(record)
    .filter(([, value]) => value !== undefined)
    .map(([name, value]) => ({ name, value, written: written?.get(name) }));
}

/** Returns a member of the arguments; `undefined` for what they inherit. */
export function getMember(record: Readonly<Record<string, unknown>>, name: string): MemberValue {
  if (!Object.hasOwn(record, name)) return { value: undefined, written: undefined };
  return { value: record[name], written: getWrittenNumbers(record)?.get(name) };
}

export interface MemberValue {
  readonly value: unknown;
  readonly written: string | undefined;
}

export interface NamedValue extends MemberValue {
  readonly name: string;
}

/** An integer has all its digits: `1000000000000000000000`, not `1e+21`. */
function formatNumber(value: number | bigint, written: string | undefined): string {
  if (written !== undefined && Object.is(Number(written), value)) return written;
  return Number.isInteger(value) ? String(BigInt(value)) : String(value);
}

function toJsonValue(value: unknown, written?: string): unknown {
  if (typeof value === "bigint") return new RawJson(String(value));
  if (typeof value === "number") {
    const text = formatNumber(value, written);
    const isPlain = text === String(value) || (!Number.isFinite(value) && written === undefined);
    return isPlain ? value : new RawJson(text);
  }
  if (value instanceof Uint8Array) return toText(value);
  if (Array.isArray(value)) return listItems(value).map((item) => toJsonValue(item.value, item.written));
  return isPlainObject(value) ? toJsonObject(listMembers(value)) : value;
}

function toJsonObject(members: readonly NamedValue[]): object {
  return Object.fromEntries(members.map(({ name, value, written }) => [name, toJsonValue(value, written)]));
}
