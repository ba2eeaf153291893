import { valueOfBinary } from "./value-of-binary.ts";

/** Plain data of a guest: JSON, or, where there is much of it, the bytes that `isPlainBinary` found to be it. */
export type Plain = string | Uint8Array<ArrayBuffer>;

/** Plain data as values. */
export interface Given {
  readonly value: unknown;
  /** False if certainly nothing in the value has a property of that name. */
  mayHave(name: string): boolean;
}

/** The values of plain data. Throws for a text that is no JSON: not every guest is ours to the end. */
export function given(plain: Plain): Given {
  if (typeof plain === "string")
    return { value: JSON.parse(plain) as unknown, mayHave: (name) => plain.includes(JSON.stringify(name)) };
  const { value, names } = valueOfBinary(Buffer.from(plain.buffer, plain.byteOffset, plain.length));
  return { value, mayHave: (name) => names.includes(name) };
}

export function jsonOf(plain: Plain): string {
  return typeof plain === "string" ? plain : JSON.stringify(given(plain).value);
}
