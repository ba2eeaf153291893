const QUOTE = 0x22;
const BACKSLASH = 0x5c;
const SPARE_BYTES = 64;
/** Buffer that is reused for most texts. */
const SCRATCH = Buffer.alloc(64 << 10);

/** Escapes of JSON, by ASCII code; undefined for characters that need none. */
const ESCAPES = Array.from({ length: 0x80 }, (_, code) => {
  const json = JSON.stringify(String.fromCharCode(code)).slice(1, -1);
  return json.length === 1 ? undefined : json;
});

/** Builds JSON as UTF-8 bytes in a buffer that grows. Throws when it exceeds `mostBytes`. */
export class JsonBytes {
  #mostBytes: number;
  #out: Buffer;
  #at = 0;
  #isAscii = true;

  constructor(expectedBytes: number, mostBytes: number) {
    this.#mostBytes = mostBytes;
    const bytes = Math.min(expectedBytes + (expectedBytes >>> 1), mostBytes) + SPARE_BYTES;
    this.#out = bytes <= SCRATCH.length ? SCRATCH : Buffer.allocUnsafe(bytes);
  }

  text(): string {
    return this.#out.toString(this.#isAscii ? "latin1" : "utf8", 0, this.#at);
  }

  /** Writes a short text that does not count towards the limit. */
  uncounted(text: string): void {
    this.#mostBytes += text.length;
    this.ascii(text);
  }

  /** Writes a short ASCII text that needs no escapes. */
  ascii(text: string): void {
    const { length } = text;
    this.#reserve(length);
    const out = this.#out;
    for (let i = 0; i < length; i++) out[this.#at + i] = text.charCodeAt(i);
    this.#at += length;
  }

  /** Writes a string of Latin-1, one byte a character. */
  narrow(bytes: Buffer, from: number, to: number): void {
    this.#reserve(to - from + 2);
    const out = this.#out;
    let at = this.#at;
    out[at++] = QUOTE;
    for (let i = from; i < to; i++) {
      const byte = bytes[i] as number;
      if (byte < 0x20 || byte >= 0x80 || byte === QUOTE || byte === BACKSLASH) {
        this.#string(bytes, from, to, 1);
        return;
      }
      out[at++] = byte;
    }
    out[at++] = QUOTE;
    this.#at = at;
  }

  /** Writes a string of UTF-16. */
  wide(bytes: Buffer, from: number, to: number): void {
    this.#reserve((to - from) / 2 + 2);
    this.#string(bytes, from, to, 2);
  }

  /** Writes a string character by character. */
  #string(bytes: Buffer, from: number, to: number, unitBytes: 1 | 2): void {
    this.ascii('"');
    for (let at = from; at < to; at += unitBytes) {
      const unit = unitAt(bytes, at, unitBytes);
      const next = (unit & 0xfc00) === 0xd800 && at + 2 < to ? unitAt(bytes, at + 2, 2) : 0;
      if (unit < 0x80) this.#ascii(unit);
      else if ((unit & 0xf800) !== 0xd800) this.#character(unit);
      else if ((next & 0xfc00) !== 0xdc00) this.ascii(`\\u${unit.toString(16)}`); // a lone surrogate
      else {
        this.#character(0x1_00_00 + ((unit & 0x3ff) << 10) + (next & 0x3ff));
        at += 2;
      }
    }
    this.ascii('"');
  }

  #ascii(code: number): void {
    const escape = ESCAPES[code];
    if (escape !== undefined) return this.ascii(escape);
    this.#reserve(1);
    this.#out[this.#at++] = code;
  }

  /** Writes a character beyond ASCII as UTF-8. */
  #character(code: number): void {
    this.#isAscii = false;
    const more = code < 0x800 ? 1 : code < 0x1_00_00 ? 2 : 3;
    this.#reserve(1 + more);
    const out = this.#out;
    out[this.#at++] = ((0xff00 >>> (more + 1)) & 0xff) | (code >>> (more * 6));
    for (let left = more - 1; left >= 0; left--) out[this.#at++] = 0x80 | ((code >>> (left * 6)) & 0x3f);
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

function unitAt(bytes: Buffer, at: number, unitBytes: 1 | 2): number {
  const low = bytes[at] as number;
  return unitBytes === 1 ? low : low | ((bytes[at + 1] as number) << 8);
}
