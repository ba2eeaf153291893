import { TAG, VERSION } from "./format.ts";

const QUOTE = 0x22;
const COMMA = 0x2c;
const MINUS = 0x2d;
const ZERO = 0x30;
const NINE = 0x39;
const COLON = 0x3a;
const ARRAY = 0x5b;
const BACKSLASH = 0x5c;
const ARRAY_END = 0x5d;
const OBJECT = 0x7b;
const OBJECT_END = 0x7d;
const [TRUE, FALSE, NULL] = [0x74, 0x66, 0x6e];
/** Bytes reserved for a count that is not known yet: the engine accepts numbers padded to this length. */
const COUNT_BYTES = 4;
const MAX_LENGTH = 2 ** 28;
/** Maximum length of a string whose head fits in two bytes. */
const MAX_TWO_BYTE_LENGTH = 2 ** 13 - 1;
/** Texts up to this length are copied faster by a loop than by `Buffer.write`. */
const SHORT_STRING = 32;
/** Maximum bytes of a tag and a number. */
const NUMBER_BYTES = 9;

/** Buffers that are reused for most texts and values. */
const SCRATCH_BYTES = 64 << 10;
const JSON_SCRATCH = Buffer.alloc(SCRATCH_BYTES);
const BINARY_SCRATCH = Buffer.alloc(SCRATCH_BYTES);
/** Bytes reserved for the names before the value; longer names are concatenated with the value. */
const HEAD_BYTES = 1_024;
const HEAD_SCRATCH = Buffer.alloc(HEAD_BYTES);

/**
 * Converts JSON, as `JSON.stringify` writes it, to the engine's binary form, which the engine reads twice as fast. Undefined
 * for any other text: the engine then parses the JSON itself. The returned buffer is valid until the next call.
 */
export function jsonToValue(json: string): Buffer | undefined {
  try {
    return new ValueWriter(json).write();
  } catch {
    return undefined; // not from `JSON.stringify`, or too deep
  }
}

/** A property name. Objects in a list mostly have the same names in the same order. */
interface Name {
  /** Its number in the engine's form. */
  readonly atom: number;
  /** Position in the JSON. */
  readonly from: number;
  readonly length: number;
  /** The name that followed it the last time. */
  next: Name | undefined;
  /** The first name of the last object that was its value, or an item of its value. */
  inner: Name | undefined;
}

class ValueWriter {
  readonly #json: Buffer;
  readonly #names = new Map<string, Name>();
  /** Count of names that are not numbers. */
  #count = 0;
  /** The name whose value is being read. */
  #owner: Name = { atom: 0, from: 0, length: 0, next: undefined, inner: undefined };
  #out = BINARY_SCRATCH;
  #at = HEAD_BYTES;
  /** Read position in the JSON, and its end. */
  #read = 0;
  readonly #end: number;

  constructor(json: string) {
    const isShort = json.length * 3 <= SCRATCH_BYTES;
    this.#json = isShort ? JSON_SCRATCH : Buffer.from(json);
    this.#end = isShort ? JSON_SCRATCH.write(json, 0) : this.#json.length;
    if (!isShort) this.#out = Buffer.allocUnsafe(this.#end + HEAD_BYTES);
  }

  write(): Buffer {
    this.#value();
    if (this.#read !== this.#end) throw new Error("text after the value");
    const body = this.#out;
    const end = this.#at;
    this.#out = HEAD_SCRATCH;
    this.#at = 0;
    this.#byte(VERSION);
    this.#number(this.#count);
    for (const [text, { atom }] of this.#names) if ((atom & 1) === 0) this.#string(text);
    const head = this.#out.subarray(0, this.#at);
    if (head.length > HEAD_BYTES) return Buffer.concat([head, body.subarray(HEAD_BYTES, end)]);
    body.set(head, HEAD_BYTES - head.length);
    return body.subarray(HEAD_BYTES - head.length, end);
  }

  #value(): void {
    switch (this.#read < this.#end ? (this.#json[this.#read] as number) : 0) {
      case QUOTE:
        return this.#text();
      case OBJECT:
        return this.#object();
      case ARRAY:
        return this.#array();
      case TRUE:
        return this.#word("true", TAG.true);
      case FALSE:
        return this.#word("false", TAG.false);
      case NULL:
        return this.#word("null", TAG.null);
      default:
        return this.#numeral();
    }
  }

  #word(word: string, tag: number): void {
    for (let i = 0; i < word.length; i++) this.#expect(word.charCodeAt(i));
    this.#byte(tag);
  }

  #object(): void {
    const countAt = this.#open(TAG.object);
    const owner = this.#owner;
    let count = 0;
    if (!this.#isNext(OBJECT_END)) {
      let last: Name | undefined;
      do {
        this.#expect(QUOTE);
        const name: Name = this.#name(last === undefined ? owner.inner : last.next);
        if (last === undefined) owner.inner = name;
        else last.next = name;
        this.#number(name.atom);
        this.#expect(COLON);
        this.#owner = name;
        this.#value();
        last = name;
        count++;
      } while (this.#isNext(COMMA));
      this.#expect(OBJECT_END);
      this.#owner = owner;
    }
    this.#close(countAt, count);
  }

  #array(): void {
    const countAt = this.#open(TAG.array);
    let count = 0;
    if (!this.#isNext(ARRAY_END)) {
      do {
        this.#value();
        count++;
      } while (this.#isNext(COMMA));
      this.#expect(ARRAY_END);
    }
    this.#close(countAt, count);
  }

  /** Begins a list or object, whose count is written at its end. Returns the position of the count. */
  #open(tag: number): number {
    this.#read++;
    this.#reserve(1 + COUNT_BYTES);
    this.#out[this.#at] = tag;
    this.#at += 1 + COUNT_BYTES;
    return this.#at - COUNT_BYTES;
  }

  #close(at: number, count: number): void {
    if (count >= MAX_LENGTH) throw new Error("too many");
    const out = this.#out;
    out[at] = (count & 127) | 128;
    out[at + 1] = ((count >>> 7) & 127) | 128;
    out[at + 2] = ((count >>> 14) & 127) | 128;
    out[at + 3] = count >>> 21;
  }

  #isNext(code: number): boolean {
    if (this.#json[this.#read] !== code || this.#read >= this.#end) return false;
    this.#read++;
    return true;
  }

  #expect(code: number): void {
    if (!this.#isNext(code)) throw new Error("not JSON");
  }

  /** Reads a name after its first quote; it mostly equals the expected one. */
  #name(expected: Name | undefined): Name {
    const json = this.#json;
    const from = this.#read;
    if (expected !== undefined && json[from + expected.length] === QUOTE) {
      let i = 0;
      while (i < expected.length && json[from + i] === json[expected.from + i]) i++;
      if (i === expected.length) {
        this.#read = from + i + 1;
        return expected;
      }
    }
    this.#read--;
    const text = this.#anyString();
    const length = this.#read - 1 - from;
    const known = this.#names.get(text);
    if (known !== undefined) return known;
    const isNumber = /^(?:0|[1-9]\d{0,8})$/.test(text); // the engine writes list indexes as numbers
    const name: Name = {
      atom: isNumber ? Number(text) * 2 + 1 : ++this.#count * 2,
      from,
      // A name with escapes never matches the expected name.
      length: text.length === length ? length : Infinity,
      next: undefined,
      inner: undefined,
    };
    this.#names.set(text, name);
    return name;
  }

  /** Converts a string: nearly always short ASCII without escapes. */
  #text(): void {
    const json = this.#json;
    const from = this.#read + 1;
    const limit = Math.min(from + MAX_TWO_BYTE_LENGTH, this.#end);
    this.#reserve(limit - from + NUMBER_BYTES);
    const out = this.#out;
    let at = this.#at + 3;
    let read = from;
    for (; read < limit; read++) {
      const byte = json[read] as number;
      if (byte === QUOTE || byte >= 0x80 || byte === BACKSLASH) break;
      out[at++] = byte;
    }
    this.#byte(TAG.string);
    if (json[read] !== QUOTE || read === limit) return this.#string(this.#anyString());
    out[at - (read - from) - 2] = (((read - from) * 2) & 127) | 128;
    out[at - (read - from) - 1] = (read - from) >>> 6;
    this.#at = at;
    this.#read = read + 1;
  }

  /** Reads a string, perhaps with escapes: it ends at the first quote with an even number of backslashes before it. */
  #anyString(): string {
    const from = this.#read;
    let end = from;
    do {
      end = this.#json.indexOf(QUOTE, end + 1);
      if (end < 0 || end >= this.#end) throw new Error("a string without an end");
    } while (this.#isEscaped(end));
    this.#read = end + 1;
    return JSON.parse(this.#json.toString("utf8", from, end + 1)) as string;
  }

  #isEscaped(at: number): boolean {
    let before = at - 1;
    while (this.#json[before] === BACKSLASH) before--;
    return (at - before) % 2 === 0;
  }

  #string(text: string): void {
    const { length } = text;
    let isWide = false;
    for (let i = 0; i < length && !isWide; i++) isWide = text.charCodeAt(i) > 0xff;
    this.#number(length * 2 + (isWide ? 1 : 0));
    this.#reserve(length * 2);
    if (length > SHORT_STRING || isWide) {
      this.#at += this.#out.write(text, this.#at, isWide ? "utf16le" : "latin1");
      return;
    }
    for (let i = 0; i < length; i++) this.#out[this.#at++] = text.charCodeAt(i);
  }

  #numeral(): void {
    const json = this.#json;
    const from = this.#read;
    let end = from;
    let whole = 0;
    for (; end < this.#end; end++) {
      const byte = json[end] as number;
      if (byte === COMMA || byte === ARRAY_END || byte === OBJECT_END) break;
      whole = byte >= ZERO && byte <= NINE ? whole * 10 + byte - ZERO : NaN;
    }
    this.#read = end;
    const value = end > from && whole < 1e9 ? whole : parseNumber(json.toString("latin1", from, end));
    if ((value | 0) === value && !(value === 0 && json[from] === MINUS)) {
      this.#byte(TAG.int);
      this.#number(((value << 1) ^ (value >> 31)) >>> 0);
      return;
    }
    this.#byte(TAG.float);
    this.#reserve(8);
    this.#at = this.#out.writeDoubleLE(value, this.#at);
  }

  #byte(byte: number): void {
    this.#reserve(1);
    this.#out[this.#at++] = byte;
  }

  #number(number: number): void {
    this.#reserve(5);
    let left = number;
    for (; left >= 128; left >>>= 7) this.#out[this.#at++] = (left & 127) | 128;
    this.#out[this.#at++] = left;
  }

  #reserve(bytes: number): void {
    if (this.#at + bytes <= this.#out.length) return;
    const larger = Buffer.allocUnsafe((this.#at + bytes) * 2);
    this.#out.copy(larger, 0, 0, this.#at);
    this.#out = larger;
  }
}

function parseNumber(text: string): number {
  const value = Number(text);
  if (text === "" || text.trim() !== text || Number.isNaN(value)) throw new Error("not a number");
  return value;
}
