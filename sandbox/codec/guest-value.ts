import { parseTagged, plainJson } from "../shared/dates.ts";
import { valueToJs } from "./value-to-js.ts";

/** Plain data of a guest: tagged JSON, or for long data the bytes that `fitsInJson` has validated. */
export type GuestValue = string | Uint8Array<ArrayBuffer>;

/** Plain data, decoded to JavaScript values. */
export interface DecodedValue {
  readonly value: unknown;
  /** False if no object in the value has a property of that name; true may be wrong. */
  mayHave(name: string): boolean;
}

/** Decodes plain data. Throws if a text is not JSON, which a taken-over guest may send. */
export function decode(plain: GuestValue, datesAs: "dates" | "text"): DecodedValue {
  if (typeof plain === "string") {
    const value: unknown = datesAs === "dates" ? parseTagged(plain) : JSON.parse(plainJson(plain));
    return { value, mayHave: (name) => plain.includes(JSON.stringify(name)) };
  }
  const { value, names } = valueToJs(toBuffer(plain), datesAs);
  return { value, mayHave: (name) => names.includes(name) };
}

/** Converts plain data to ordinary JSON, in which dates are texts. */
export function toJson(plain: GuestValue): string {
  return typeof plain === "string" ? plainJson(plain) : JSON.stringify(decode(plain, "text").value);
}

function toBuffer(bytes: Uint8Array<ArrayBuffer>): Buffer {
  return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length);
}
