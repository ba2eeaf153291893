import { parseTagged, plainJson } from "./dates.ts";
import { jsonOfBinary } from "./json-of-binary.ts";
import { valueOfBinary } from "./value-of-binary.ts";

/** Plain data of a guest: tagged JSON, or, where there is much of it, the bytes that `isPlainBinary` found to be it. */
export type Plain = string | Uint8Array<ArrayBuffer>;

/** Plain data as values. */
export interface Given {
  readonly value: unknown;
  /** False if certainly nothing in the value has a property of that name. */
  mayHave(name: string): boolean;
}

/** The values of plain data. Throws for a text that is no JSON: not every guest is ours to the end. */
export function given(plain: Plain, datesAs: "dates" | "text"): Given {
  if (typeof plain === "string") {
    const value: unknown = datesAs === "dates" ? parseTagged(plain) : JSON.parse(plainJson(plain));
    return { value, mayHave: (name) => plain.includes(JSON.stringify(name)) };
  }
  const { value, names } = valueOfBinary(bufferOf(plain), datesAs);
  return { value, mayHave: (name) => names.includes(name) };
}

/** JSON as the language writes it. */
export function jsonOf(plain: Plain): string {
  return typeof plain === "string" ? plainJson(plain) : JSON.stringify(given(plain, "text").value);
}

/** JSON in which dates are told from texts. */
export function taggedJsonOf(plain: Plain): string {
  return typeof plain === "string" ? plain : (jsonOfBinary(bufferOf(plain), Number.MAX_SAFE_INTEGER) ?? "null");
}

function bufferOf(bytes: Uint8Array<ArrayBuffer>): Buffer {
  return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length);
}
