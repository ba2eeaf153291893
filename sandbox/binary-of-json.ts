import { TAG, VERSION } from "./binary-form.ts";

const QUOTE = 0x22;
const COMMA = 0x2c;
const MINUS = 0x2d;
const COLON = 0x3a;
const BACKSLASH = 0x5c;
const ARRAY_END = 0x5d;
const OBJECT_END = 0x7d;
/** Bytes for a count that is not known yet: the engine reads numbers with idle bytes at their end, too. */
const COUNT_BYTES = 4;
const MOST = 2 ** 28;

/**
 * JSON, as `JSON.stringify` writes it, in the binary form of the engine, which reads it twice as fast. Undefined for
 * whatever is not understood: the engine then reads the JSON itself.
 */
export function binaryOfJson(json: string): Buffer | undefined {
  try {
    return new Writer(json).write();
  } catch {
    return undefined; // not from `JSON.stringify`, or too deep
  }
}

class Writer {
  readonly #json: string;
  readonly #names = new Map<string, number>();
  #out: Buffer;
  #at = 0;
  /** How far the JSON was read. */
  #read = 0;

  constructor(json: string) {
    this.#json = json;
    this.#out = Buffer.allocUnsafe(json.length + 64);
  }

  write(): Buffer {
    this.#value();
    if (this.#read !== this.#json.length) throw new Error("something behind the value");
    const body = this.#out.subarray(0, this.#at);
    this.#out = Buffer.allocUnsafe(64 + 8 * this.#names.size);
    this.#at = 0;
    this.#byte(VERSION);
    this.#number(this.#names.size);
    for (const name of this.#names.keys()) this.#string(name);
    return Buffer.concat([this.#out.subarray(0, this.#at), body]);
  }

  #value(): void {
    switch (this.#json.charAt(this.#read)) {
      case '"':
        this.#byte(TAG.string);
        return this.#text();
      case "{":
        return this.#object();
      case "[":
        return this.#array();
      case "t":
        return this.#word("true", TAG.true);
      case "f":
        return this.#word("false", TAG.false);
      case "n":
        return this.#word("null", TAG.null);
      default:
        return this.#numeral();
    }
  }

  #word(word: string, tag: number): void {
    if (!this.#json.startsWith(word, this.#read)) throw new Error("no word of JSON");
    this.#read += word.length;
    this.#byte(tag);
  }

  #object(): void {
    const countAt = this.#open(TAG.object);
    let count = 0;
    if (!this.#isNext(OBJECT_END)) {
      do {
        this.#number(this.#atomOf(this.#key()));
        this.#expect(COLON);
        this.#value();
        count++;
      } while (this.#isNext(COMMA));
      this.#expect(OBJECT_END);
    }
    this.#count(countAt, count);
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
    this.#count(countAt, count);
  }

  /** Begins a list whose length is known at its end. */
  #open(tag: number): number {
    this.#read++;
    this.#byte(tag);
    this.#reserve(COUNT_BYTES);
    this.#at += COUNT_BYTES;
    return this.#at - COUNT_BYTES;
  }

  #count(at: number, count: number): void {
    if (count >= MOST) throw new Error("too many");
    for (let i = 0; i < COUNT_BYTES; i++) {
      this.#out[at + i] = ((count >>> (7 * i)) & 127) | (i < COUNT_BYTES - 1 ? 128 : 0);
    }
  }

  #isNext(code: number): boolean {
    if (this.#json.charCodeAt(this.#read) !== code) return false;
    this.#read++;
    return true;
  }

  #expect(code: number): void {
    if (!this.#isNext(code)) throw new Error("not JSON");
  }

  /** Names that are places in a list are numbers to the engine. */
  #atomOf(name: string): number {
    const first = name.charCodeAt(0);
    if (first >= 0x30 && first <= 0x39 && /^(?:0|[1-9]\d{0,8})$/.test(name)) return Number(name) * 2 + 1;
    let index = this.#names.get(name);
    if (index === undefined) {
      index = this.#names.size + 1;
      this.#names.set(name, index);
    }
    return index * 2;
  }

  #key(): string {
    this.#expect(QUOTE);
    const from = this.#read;
    const end = this.#json.indexOf('"', from);
    const name = this.#json.slice(from, end);
    if (end >= 0 && !name.includes("\\")) {
      this.#read = end + 1;
      return name;
    }
    this.#read = from - 1;
    return this.#escaped();
  }

  /** A string of the JSON: nearly always characters of one byte that mean themselves. */
  #text(): void {
    const json = this.#json;
    const from = this.#read + 1;
    const end = json.indexOf('"', from);
    const before = this.#at;
    this.#number((end - from) * 2);
    this.#reserve(end - from);
    const out = this.#out;
    let at = this.#at;
    for (let i = from; i < end; i++) {
      const code = json.charCodeAt(i);
      if (code > 0xff || code === BACKSLASH) {
        this.#at = before;
        return this.#string(this.#escaped());
      }
      out[at++] = code;
    }
    if (end < 0) throw new Error("a string without an end");
    this.#at = at;
    this.#read = end + 1;
  }

  /** A string with escapes or wide characters: it ends at the first quote with an even number of backslashes before it. */
  #escaped(): string {
    const from = this.#read;
    let end = from;
    do {
      end = this.#json.indexOf('"', end + 1);
      if (end < 0) throw new Error("a string without an end");
    } while (this.#isEscaped(end));
    this.#read = end + 1;
    return JSON.parse(this.#json.slice(from, end + 1)) as string;
  }

  #isEscaped(at: number): boolean {
    let before = at - 1;
    while (this.#json.charCodeAt(before) === BACKSLASH) before--;
    return (at - before) % 2 === 0;
  }

  #string(text: string): void {
    let isWide = false;
    for (let i = 0; i < text.length && !isWide; i++) isWide = text.charCodeAt(i) > 0xff;
    this.#number(text.length * 2 + (isWide ? 1 : 0));
    this.#reserve(text.length * 2);
    this.#at += this.#out.write(text, this.#at, isWide ? "utf16le" : "latin1");
  }

  #numeral(): void {
    const json = this.#json;
    const from = this.#read;
    let end = from;
    for (let code = json.charCodeAt(end); code !== COMMA && code !== ARRAY_END && code !== OBJECT_END;) {
      if (Number.isNaN(code)) break;
      code = json.charCodeAt(++end);
    }
    const text = json.slice(from, end);
    const value = Number(text);
    if (text === "" || text.trim() !== text || Number.isNaN(value)) throw new Error("no number");
    this.#read = end;
    if ((value | 0) === value && !(value === 0 && json.charCodeAt(from) === MINUS)) {
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
