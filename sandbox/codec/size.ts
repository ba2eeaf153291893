import { MAX_ARGUMENT_NAMES } from "../shared/nesting.ts";
import { ValueTooDeep, TAG, ValueReader } from "./format.ts";

/** Bytes longer than this many times the limit of their JSON are rejected unread: most values are shorter as bytes. */
const MAX_JSON_RATIO = 3;
/** Maximum bytes of JSON for a unit of a string, an integer, any number, and a date. */
const MAX_JSON_BYTES = { unit: 6, int: 11, float: 24, date: 29 } as const;

/**
 * Tests whether bytes are a value in the engine's form whose JSON, with dates as texts, has at most `maxBytes`. The bytes
 * and their positions may be hostile. Throws only `ValueTooDeep`.
 */
export function fitsInJson(bytes: Buffer, maxBytes: number, from: number, to: number): boolean {
  if (to - from > maxBytes * MAX_JSON_RATIO) return false;
  try {
    return [false, true].some((isExact) => new SizeReader(bytes, from, to, isExact).jsonBytes() <= maxBytes);
  } catch (error) {
    if (error instanceof ValueTooDeep) throw error;
    return false; // cut off, or a value that JSON cannot hold
  }
}

/** Computes the length of the JSON in UTF-8, or fast a rough upper bound of it. */
class SizeReader extends ValueReader<number> {
  readonly #isExact: boolean;
  /** Length of the JSON of each name. */
  #names: readonly number[] = [];

  constructor(bytes: Buffer, from: number, to: number, isExact: boolean) {
    super(bytes, from, to);
    this.#isExact = isExact;
  }

  jsonBytes(): number {
    const { names, tag } = this.head();
    this.#names = names;
    return this.value(tag);
  }

  protected override readConstant(value: boolean | null): number {
    return value === false ? 5 : 4;
  }

  protected override readNumber(value: number): number {
    if (this.#isExact) return String(value).length;
    return (value | 0) === value ? MAX_JSON_BYTES.int : MAX_JSON_BYTES.float;
  }

  protected override readDate(date: Date): number {
    return this.#isExact ? JSON.stringify(date).length : MAX_JSON_BYTES.date;
  }

  protected override readObject(count: number): number {
    if (count > MAX_ARGUMENT_NAMES) throw new Error("too many names"); // its JSON is refused
    let length = 2;
    let members = 0;
    for (let rest = count; rest > 0; rest--) {
      const name = this.#name(this.number());
      const tag = this.byte();
      if (tag === TAG.undefined) continue;
      length += name + this.value(tag) + 1;
      members++;
    }
    return length + Math.max(0, members - 1);
  }

  protected override readArray(count: number): number {
    let length = 2 + Math.max(0, count - 1);
    for (let rest = count; rest > 0; rest--) length += this.value(this.byte());
    return length;
  }

  #name(atom: number): number {
    if ((atom & 1) !== 0) return String(atom >>> 1).length + 2;
    const length = this.#names[(atom >>> 1) - 1];
    if (length === undefined) throw new Error("no such name");
    return length;
  }

  protected override readString(from: number, to: number, isWide: boolean): number {
    if (!this.#isExact) return (to - from) * MAX_JSON_BYTES.unit + 2;
    return isWide ? measureWide(this.bytes, from, to) : measureNarrow(this.bytes, from, to);
  }
}

/** UTF-8 bytes that the JSON of each Latin-1 character takes. */
const JSON_BYTES = Uint8Array.from({ length: 256 }, (_, code) =>
  code < 0x80 ? JSON.stringify(String.fromCharCode(code)).length - 2 : 2,
);

/** Measures a string of Latin-1, one byte a character. */
function measureNarrow(bytes: Buffer, from: number, to: number): number {
  let length = 2;
  for (let at = from; at < to; at++) length += JSON_BYTES[bytes[at] as number] as number;
  return length;
}

/** Measures a string of UTF-16. JSON escapes lone surrogates. */
function measureWide(bytes: Buffer, from: number, to: number): number {
  let length = 2;
  for (let at = from; at < to; at += 2) {
    const high = bytes[at + 1] as number;
    if (high === 0) length += JSON_BYTES[bytes[at] as number] as number;
    else if (high < 0x08) length += 2;
    else if ((high & 0xf8) !== 0xd8) length += 3;
    else if ((high & 0xfc) === 0xd8 && at + 3 < to && ((bytes[at + 3] as number) & 0xfc) === 0xdc) {
      length += 4;
      at += 2;
    } else length += MAX_JSON_BYTES.unit;
  }
  return length;
}
