import { BinaryCursor, isWide, signed, getByteLength, TAG } from "./format.ts";

/** Bytes longer than this many times the limit of their JSON are rejected unread: most values are shorter as bytes. */
const MAX_JSON_RATIO = 3;
/** Maximum bytes of JSON for a unit of a string, an integer, any number, and a date. */
const MAX_JSON_BYTES = { unit: 6, int: 11, float: 24, date: 29 } as const;

/**
 * Tests whether bytes are certainly a value in the engine's form whose JSON has at most `mostBytes`. The bytes and their
 * positions may be hostile.
 */
export function isPlainValue(bytes: Buffer, mostBytes: number, from: number, to: number): boolean {
  if (to - from > mostBytes * MAX_JSON_RATIO) return false;
  try {
    return [false, true].some((counts) => new SizeReader(bytes, from, to, counts).jsonBytes() <= mostBytes);
  } catch {
    return false; // cut off, too deep, or a value that JSON cannot hold
  }
}

/** Computes an upper bound of the JSON's length: a fast and rough one, unless `counts` asks to count the characters. */
class SizeReader extends BinaryCursor {
  readonly #counts: boolean;
  /** Length of the JSON of each name. */
  readonly #names: number[] = [];

  constructor(bytes: Buffer, from: number, to: number, counts: boolean) {
    super(bytes, from, to);
    this.#counts = counts;
  }

  jsonBytes(): number {
    for (let count = this.head(); count > 0; count--) this.#names.push(this.#string());
    const tag = this.byte();
    if (tag === TAG.undefined) throw new Error("no value"); // inside other values it is null or left out
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

/** UTF-8 bytes that the JSON of each Latin-1 character takes. */
const JSON_BYTES = Uint8Array.from({ length: 256 }, (_, code) =>
  code < 0x80 ? JSON.stringify(String.fromCharCode(code)).length - 2 : 2,
);

/** Measures a string of Latin-1, one byte a character. */
function narrowJson(bytes: Buffer, from: number, to: number): number {
  let length = 2;
  for (let at = from; at < to; at++) length += JSON_BYTES[bytes[at] as number] as number;
  return length;
}

/** Measures a string of UTF-16. Any surrogate may be a lone one, which JSON escapes. */
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
