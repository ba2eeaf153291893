import { parseTagged, plainJson } from "../shared/dates.ts";
import { valueToJson } from "./value-to-json.ts";
import { valueToJs } from "./value-to-js.ts";

/** Plain data of a guest: tagged JSON, or, where there is much of it, the bytes that `isPlainValue` found to be it. */
export type GuestValue = string | Uint8Array<ArrayBuffer>;

/** Plain data as values. */
export interface DecodedValue {
  readonly value: unknown;
  /** False if certainly nothing in the value has a property of that name. */
  mayHave(name: string): boolean;
}

/** The values of plain data. Throws for a text that is no JSON: not every guest is ours to the end. */
export function decode(plain: GuestValue, datesAs: "dates" | "text"): DecodedValue {
  if (typeof plain === "string") {
    const value: unknown = datesAs === "dates" ? parseTagged(plain) : JSON.parse(plainJson(plain));
    return { value, mayHave: (name) => plain.includes(JSON.stringify(name)) };
  }
  const { value, names } = valueToJs(bufferOf(plain), datesAs);
  return { value, mayHave: (name) => names.includes(name) };
}

/** JSON as the language writes it. */
export function toJson(plain: GuestValue): string {
  return typeof plain === "string" ? plainJson(plain) : JSON.stringify(decode(plain, "text").value);
}

/** JSON in which dates are told from texts. */
export function taggedJsonOf(plain: GuestValue): string {
  return typeof plain === "string" ? plain : (valueToJson(bufferOf(plain), Number.MAX_SAFE_INTEGER) ?? "null");
}

function bufferOf(bytes: Uint8Array<ArrayBuffer>): Buffer {
  return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length);
}
