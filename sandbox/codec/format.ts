import { MAX_DEPTH } from "../guest/host-protocol.ts";

/** Tags of the engine's own binary form of values (`JS_WriteObject`), for the values that JSON can hold. */
export const TAG = {
  null: 1,
  undefined: 2,
  false: 3,
  true: 4,
  int: 5,
  float: 6,
  string: 7,
  object: 8,
  array: 9,
  date: 17,
} as const;

export const VERSION = 5;
/** Values with more property names are left to the guest: each name costs the host more memory than its bytes. */
const MAX_NAMES = 1 << 16;

/** Returns the length in bytes of a string with this head; its lowest bit says whether a unit takes two bytes. */
export function getByteLength(head: number): number {
  return isWide(head) ? (head >>> 1) * 2 : head >>> 1;
}

export function isWide(head: number): boolean {
  return (head & 1) !== 0;
}

/** Decodes a number that has its sign in the lowest bit. */
export function signed(number: number): number {
  return (number >>> 1) ^ -(number & 1);
}

/** Thrown if a value has more levels than `MAX_DEPTH`. */
export class NestedTooDeeply extends Error {}

/** Reads a value in the engine's binary form. The bytes may be hostile; reading beyond their end throws. */
export class BinaryCursor {
  protected readonly bytes: Buffer;
  readonly #end: number;
  #at: number;
  /** Maximum of members that may follow, as each takes a byte. */
  #members: number;
  #depth = 0;

  constructor(bytes: Buffer, from: number, to: number) {
    if (from < 0 || to < from || to > bytes.length) throw new Error("outside of the bytes");
    this.bytes = bytes;
    this.#at = from;
    this.#end = to;
    this.#members = to - from;
  }

  /** Reads the head: the number of property names. The names follow, and then the value. */
  protected head(): number {
    if (this.byte() !== VERSION) throw new Error("another version");
    const names = this.number();
    if (names > MAX_NAMES) throw new Error("too many names");
    return names;
  }

  protected byte(): number {
    return this.bytes[this.skip(1)] as number;
  }

  /** Reads 32 bits, seven in each byte, the low ones first. */
  protected number(): number {
    let number = 0;
    for (let shift = 0; shift < 35; shift += 7) {
      const byte = this.byte();
      number |= (byte & 127) << shift;
      if (byte < 128) return number >>> 0;
    }
    throw new Error("not a number");
  }

  /** Reads the number of members. */
  protected count(): number {
    const count = this.number();
    this.#members -= count;
    if (this.#members < 0) throw new Error("too many members");
    return count;
  }

  /** Enters a list or an object; `leave` leaves it. */
  protected enter(): void {
    if (++this.#depth > MAX_DEPTH) throw new NestedTooDeeply();
  }

  protected leave(): void {
    this.#depth--;
  }

  protected float(): number {
    return this.bytes.readDoubleLE(this.skip(8));
  }

  /** Reads a date, in milliseconds since 1970. */
  protected date(): number {
    const tag = this.byte();
    if (tag === TAG.int) return signed(this.number());
    if (tag === TAG.float) return this.float();
    throw new Error("not a date");
  }

  /** Advances by `count` bytes and returns the position of the first. */
  protected skip(count: number): number {
    const at = this.#at;
    this.#at += count;
    if (this.#at > this.#end) throw new Error("cut off");
    return at;
  }
}
