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

/** Thrown if a value has more levels than `MAX_DEPTH`. */
export class ValueTooDeep extends Error {}

/**
 * Reads a value in the engine's binary form; a subclass says what each part of it becomes. The bytes may be hostile: reading
 * beyond their end throws.
 */
export abstract class ValueReader<Value> {
  protected readonly bytes: Buffer;
  readonly #end: number;
  #at: number;
  /** Maximum of members that may follow, as each takes a byte. */
  #members: number;
  #depth = 0;

  constructor(bytes: Buffer, from: number, to: number) {
    if (!(from >= 0 && to >= from && to <= bytes.length)) throw new Error("outside of the bytes");
    this.bytes = bytes;
    this.#at = from;
    this.#end = to;
    this.#members = to - from;
  }

  protected abstract readConstant(value: boolean | null): Value;
  protected abstract readNumber(value: number): Value;
  protected abstract readDate(date: Date): Value;
  /** Reads a string between two positions; a wide one has two bytes for each unit. */
  protected abstract readString(from: number, to: number, isWide: boolean): Value;
  protected abstract readArray(count: number): Value;
  protected abstract readObject(count: number): Value;

  /** Reads the head, which holds the property names, and the tag of the value that follows. */
  protected head(): { readonly names: Value[]; readonly tag: number } {
    if (this.byte() !== VERSION) throw new Error("another version");
    const count = this.number();
    if (count > MAX_NAMES) throw new Error("too many names");
    const names: Value[] = [];
    for (let rest = count; rest > 0; rest--) names.push(this.#string());
    const tag = this.byte();
    if (tag === TAG.undefined) throw new Error("no value"); // inside other values it is null or left out
    return { names, tag };
  }

  protected value(tag: number): Value {
    switch (tag) {
      case TAG.null:
      case TAG.undefined:
        return this.readConstant(null);
      case TAG.false:
      case TAG.true:
        return this.readConstant(tag === TAG.true);
      case TAG.int:
        return this.readNumber(signed(this.number()));
      case TAG.float: {
        const number = this.#float();
        return Number.isFinite(number) ? this.readNumber(number + 0) : this.readConstant(null); // JSON has no -0
      }
      case TAG.string:
        return this.#string();
      case TAG.array:
      case TAG.object:
        return this.#container(tag);
      case TAG.date:
        return this.#date();
      default:
        throw new Error("no JSON for this");
    }
  }

  #container(tag: number): Value {
    if (++this.#depth > MAX_DEPTH) throw new ValueTooDeep();
    const count = this.number();
    this.#members -= count;
    if (this.#members < 0) throw new Error("too many members");
    const value = tag === TAG.array ? this.readArray(count) : this.readObject(count);
    this.#depth--;
    return value;
  }

  #string(): Value {
    const head = this.number(); // its lowest bit says whether a unit takes two bytes
    const isWide = (head & 1) !== 0;
    const size = isWide ? (head >>> 1) * 2 : head >>> 1;
    const from = this.#skip(size);
    return this.readString(from, from + size, isWide);
  }

  #date(): Value {
    const tag = this.byte();
    if (tag !== TAG.int && tag !== TAG.float) throw new Error("not a date");
    const date = new Date(tag === TAG.int ? signed(this.number()) : this.#float());
    return Number.isNaN(date.getTime()) ? this.readConstant(null) : this.readDate(date);
  }

  protected byte(): number {
    return this.bytes[this.#skip(1)] as number;
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

  #float(): number {
    return this.bytes.readDoubleLE(this.#skip(8));
  }

  /** Advances by `count` bytes and returns the position of the first. */
  #skip(count: number): number {
    const at = this.#at;
    this.#at += count;
    if (this.#at > this.#end) throw new Error("cut off");
    return at;
  }
}

/** Decodes a number that has its sign in the lowest bit. */
function signed(number: number): number {
  return (number >>> 1) ^ -(number & 1);
}
