const QUOTE = 0x22;
const BACKSLASH = 0x5c;
const ROOM = 64;
/** So many units of a string are escaped at once: what it becomes must be measured before there is much of it. */
const PIECE = 16 << 10;
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
        this.#quoted(bytes, from, to, "latin1");
        return;
      }
      out[at++] = byte;
    }
    out[at++] = QUOTE;
    this.#at = at;
  }

  /** A string of UTF-16. */
  wide(bytes: Buffer, from: number, to: number): void {
    this.#reserve((to - from) / 2 + 2);
    this.#quoted(bytes, from, to, "utf16le");
  }

  #quoted(bytes: Buffer, from: number, to: number, encoding: "latin1" | "utf16le"): void {
    const most = encoding === "latin1" ? PIECE : PIECE * 2;
    this.#isAscii = false;
    this.ascii('"');
    for (let at = from; at < to;) {
      let end = Math.min(at + most, to);
      if (encoding === "utf16le" && end < to && isHighSurrogate(bytes, end - 2)) end -= 2;
      const json = JSON.stringify(bytes.toString(encoding, at, end)).slice(1, -1);
      this.#reserve(Buffer.byteLength(json));
      this.#at += this.#out.write(json, this.#at);
      at = end;
    }
    this.ascii('"');
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

/** The first half of a character, which must not be cut off from the second. */
function isHighSurrogate(bytes: Buffer, at: number): boolean {
  return ((bytes[at + 1] as number) & 0xfc) === 0xd8;
}
