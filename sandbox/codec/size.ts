import { BinaryCursor, isWide, signed, getByteLength, TAG } from "./format.ts";

/** A form that is so many times as long as its JSON may be is not worth its bytes: most are shorter. */
const MAX_JSON_RATIO = 3;
/** The most bytes of JSON that a unit of a string takes, a number that is whole, any number, and a date. */
const MAX_JSON_BYTES = { unit: 6, int: 11, float: 24, date: 29 } as const;

/**
 * Whether bytes are certainly a value in the engine's form that has JSON, and its JSON is at most so long. They may be
 * anything, and so may the places that say where they are.
 */
export function isPlainValue(bytes: Buffer, mostBytes: number, from: number, to: number): boolean {
  if (to - from > mostBytes * MAX_JSON_RATIO) return false;
  try {
    return [false, true].some((counts) => new SizeReader(bytes, from, to, counts).jsonBytes() <= mostBytes);
  } catch {
    return false; // cut off, too deep, or something that JSON has no word for
  }
}

/** How long the JSON can be at most. It is a rough guess, and a quick one, unless the characters are counted. */
class SizeReader extends BinaryCursor {
  readonly #counts: boolean;
  /** Of the JSON of each name. */
  readonly #names: number[] = [];

  constructor(bytes: Buffer, from: number, to: number, counts: boolean) {
    super(bytes, from, to);
    this.#counts = counts;
  }

  jsonBytes(): number {
    for (let count = this.head(); count > 0; count--) this.#names.push(this.#string());
    const tag = this.byte();
    if (tag === TAG.undefined) throw new Error("no value"); // within others it is null or left out
    return this.#value(tag);
  }

  #value(tag: number): number {
    switch (tag) {
      case TAG.null:
      case TAG.undefined:
      case TAG.true:
        return 4;
      case TAG.false:
        return 5;
      case TAG.int: {
        const number = signed(this.number());
        return this.#counts ? String(number).length : MAX_JSON_BYTES.int;
      }
      case TAG.float:
        this.float();
        return MAX_JSON_BYTES.float;
      case TAG.string:
        return this.#string();
      case TAG.object:
        return this.#object();
      case TAG.array:
        return this.#array();
      case TAG.date:
        this.date();
        return MAX_JSON_BYTES.date;
      default:
        throw new Error("no JSON for this");
    }
  }

  #object(): number {
    this.enter();
    let length = 2;
    for (let count = this.count(); count > 0; count--) {
      const name = this.number();
      length += this.#name(name) + this.#value(this.byte()) + 2;
    }
    this.leave();
    return length;
  }

  #array(): number {
    this.enter();
    let length = 2;
    for (let count = this.count(); count > 0; count--) length += this.#value(this.byte()) + 1;
    this.leave();
    return length;
  }

  #name(atom: number): number {
    if ((atom & 1) !== 0) return MAX_JSON_BYTES.int + 2;
    const length = this.#names[(atom >>> 1) - 1];
    if (length === undefined) throw new Error("no such name");
    return length;
  }

  #string(): number {
    const head = this.number();
    const from = this.skip(getByteLength(head));
    if (!this.#counts) return (head >>> 1) * MAX_JSON_BYTES.unit + 2;
    const to = from + getByteLength(head);
    return isWide(head) ? wideJson(this.bytes, from, to) : narrowJson(this.bytes, from, to);
  }
}

/** Bytes that the JSON of each character of Latin-1 takes, as UTF-8. */
const JSON_BYTES = Uint8Array.from({ length: 256 }, (_, code) =>
  code < 0x80 ? JSON.stringify(String.fromCharCode(code)).length - 2 : 2,
);

/** A string of Latin-1, one byte a character. */
function narrowJson(bytes: Buffer, from: number, to: number): number {
  let length = 2;
  for (let at = from; at < to; at++) length += JSON_BYTES[bytes[at] as number] as number;
  return length;
}

/** A string of UTF-16. Halves of characters may have lost their other half, and are escaped then. */
function wideJson(bytes: Buffer, from: number, to: number): number {
  let length = 2;
  for (let at = from; at < to; at += 2) {
    const high = bytes[at + 1] as number;
    if (high === 0) length += JSON_BYTES[bytes[at] as number] as number;
    else if (high < 0x08) length += 2;
    else length += (high & 0xf8) === 0xd8 ? MAX_JSON_BYTES.unit : 3;
  }
  return length;
}
