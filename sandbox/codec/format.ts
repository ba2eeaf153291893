import { MAX_DEPTH } from "../guest/host-protocol.ts";

/** The form in which the engine writes values for itself (`JS_WriteObject`), as far as JSON has a word for it. */
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
/** Values with more names of properties are left to the guest: what we keep of each is more than it may have written. */
const MAX_NAMES = 1 << 16;

/** The head of a string: how many bytes it has, and whether a unit takes two of them. */
export function getByteLength(head: number): number {
  return isWide(head) ? (head >>> 1) * 2 : head >>> 1;
}

export function isWide(head: number): boolean {
  return (head & 1) !== 0;
}

/** A number of the engine's with its sign in the lowest bit. */
export function signed(number: number): number {
  return (number >>> 1) ^ -(number & 1);
}

/** The value has more levels than may cross. */
export class NestedTooDeeply extends Error {}

/** Goes through a value in that form. The bytes may be anything; beyond their end it throws. */
export class BinaryCursor {
  protected readonly bytes: Buffer;
  readonly #end: number;
  #at: number;
  /** So many members there may still be, as each takes a byte. */
  #members: number;
  #depth = 0;

  constructor(bytes: Buffer, from: number, to: number) {
    if (from < 0 || to < from || to > bytes.length) throw new Error("outside of the bytes");
    this.bytes = bytes;
    this.#at = from;
    this.#end = to;
    this.#members = to - from;
  }

  /** What comes first: how many names of properties there are. They come next, and then the value. */
  protected head(): number {
    if (this.byte() !== VERSION) throw new Error("another version");
    const names = this.number();
    if (names > MAX_NAMES) throw new Error("too many names");
    return names;
  }

  protected byte(): number {
    return this.bytes[this.skip(1)] as number;
  }

  /** 32 bits, seven in each byte, the low ones first. */
  protected number(): number {
    let number = 0;
    for (let shift = 0; shift < 35; shift += 7) {
      const byte = this.byte();
      number |= (byte & 127) << shift;
      if (byte < 128) return number >>> 0;
    }
    throw new Error("no number");
  }

  /** How many members there are. */
  protected count(): number {
    const count = this.number();
    this.#members -= count;
    if (this.#members < 0) throw new Error("too many members");
    return count;
  }

  /** Goes into a list or an object; `leave` goes back out. */
  protected enter(): void {
    if (++this.#depth > MAX_DEPTH) throw new NestedTooDeeply();
  }

  protected leave(): void {
    this.#depth--;
  }

  protected float(): number {
    return this.bytes.readDoubleLE(this.skip(8));
  }

  /** Milliseconds since 1970. */
  protected date(): number {
    const tag = this.byte();
    if (tag === TAG.int) return signed(this.number());
    if (tag === TAG.float) return this.float();
    throw new Error("no date");
  }

  /** Goes on by so many bytes, and says where they begin. */
  protected skip(count: number): number {
    const at = this.#at;
    this.#at += count;
    if (this.#at > this.#end) throw new Error("cut off");
    return at;
  }
}
