const QUOTE = 0x22;
const BACKSLASH = 0x5c;
const ROOM = 64;
/** For most texts: it is written again and again. */
const SCRATCH = Buffer.alloc(64 << 10);

/** JSON on its way to be a text: bytes of UTF-8 in a buffer that grows. Throws when it becomes longer than it may. */
export class JsonBytes {
  readonly #mostBytes: number;
  #out: Buffer;
  #at = 0;
  #isAscii = true;

  constructor(expectedBytes: number, mostBytes: number) {
    this.#mostBytes = mostBytes;
    const bytes = Math.min(expectedBytes + (expectedBytes >>> 1), mostBytes) + ROOM;
    this.#out = bytes <= SCRATCH.length ? SCRATCH : Buffer.allocUnsafe(bytes);
  }

  text(): string {
    return this.#out.toString(this.#isAscii ? "latin1" : "utf8", 0, this.#at);
  }

  /** A short text without anything special in it. */
  ascii(text: string): void {
    const { length } = text;
    this.#reserve(length);
    const out = this.#out;
    for (let i = 0; i < length; i++) out[this.#at + i] = text.charCodeAt(i);
    this.#at += length;
  }

  /** A string of Latin-1, one byte a character. */
  narrow(bytes: Buffer, from: number, to: number): void {
    this.#reserve(to - from + 2);
    const out = this.#out;
    let at = this.#at;
    out[at++] = QUOTE;
    for (let i = from; i < to; i++) {
      const byte = bytes[i] as number;
      if (byte < 0x20 || byte >= 0x80 || byte === QUOTE || byte === BACKSLASH) {
        this.#quoted(bytes.toString("latin1", from, to));
        return;
      }
      out[at++] = byte;
    }
    out[at++] = QUOTE;
    this.#at = at;
  }

  /** A string of UTF-16. */
  wide(bytes: Buffer, from: number, to: number): void {
    this.#quoted(bytes.toString("utf16le", from, to));
  }

  #quoted(text: string): void {
    const json = JSON.stringify(text);
    this.#reserve(Buffer.byteLength(json));
    this.#isAscii = false;
    this.#at += this.#out.write(json, this.#at);
  }

  #reserve(bytes: number): void {
    const needed = this.#at + bytes;
    if (needed > this.#mostBytes) throw new Error("too long");
    if (needed <= this.#out.length) return;
    const larger = Buffer.allocUnsafe(Math.min(needed * 2, this.#mostBytes));
    this.#out.copy(larger, 0, 0, this.#at);
    this.#out = larger;
  }
}
