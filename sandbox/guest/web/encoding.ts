import { wellFormed } from "../primordials.ts";
import { type Decode, codeUnitsToText, decodeUtf8, utf8Decoder, encodeUtf8 } from "./utf8.ts";

/** `TextEncoder` of the Encoding standard. */
export class TextEncoder {
  get encoding(): string {
    return "utf-8";
  }

  encode(input: unknown = ""): Uint8Array {
    return encodeUtf8(String(input));
  }

  /** Writes as many whole characters as fit; `read` counts UTF-16 units. */
  encodeInto(input: unknown, target: Uint8Array): { read: number; written: number } {
    const bytes = encodeUtf8(String(input));
    let written = Math.min(bytes.length, target.length);
    while (((bytes[written] ?? 0) & 0xc0) === 0x80) written--;
    target.set(bytes.subarray(0, written));
    return { read: decodeUtf8(bytes.subarray(0, written)).length, written };
  }
}

interface DecoderOptions {
  readonly fatal?: boolean;
  readonly ignoreBOM?: boolean;
}

/** `TextDecoder` of the Encoding standard, for the common encodings: UTF-8, UTF-16LE, windows-1252. */
export class TextDecoder {
  readonly #encoding: Encoding;
  readonly #fatal: boolean;
  readonly #ignoreBom: boolean;
  /** Undefined between two streams. */
  #decode: Decode | undefined;
  #atStart = true;

  constructor(label: unknown = "utf-8", options: DecoderOptions = {}) {
    this.#encoding = findEncoding(String(label));
    this.#fatal = Boolean(options.fatal);
    this.#ignoreBom = Boolean(options.ignoreBOM);
  }

  get encoding(): string {
    return this.#encoding;
  }

  get fatal(): boolean {
    return this.#fatal;
  }

  get ignoreBOM(): boolean {
    return this.#ignoreBom;
  }

  decode(input?: unknown, options: { readonly stream?: boolean } = {}): string {
    const decode = this.#decode ?? DECODERS[this.#encoding](this.#fatal);
    if (this.#decode === undefined) this.#atStart = true;
    const last = !options.stream;
    this.#decode = undefined; // also if it throws
    const text = decode(toBytes(input), last);
    if (!last) this.#decode = decode;
    const skip = this.#atStart && !this.#ignoreBom && text.startsWith("\uFEFF");
    if (text !== "") this.#atStart = false;
    return skip ? text.slice(1) : text;
  }
}

type Encoding = "utf-8" | "utf-16le" | "windows-1252";

const DECODERS: Readonly<Record<Encoding, (fatal: boolean) => Decode>> = {
  "utf-8": utf8Decoder,
  "utf-16le": utf16Decoder,
  "windows-1252": () => windows1252,
};

const LABELS: Readonly<Record<Encoding, string>> = {
  "utf-8": "utf-8 utf8 unicode-1-1-utf-8 unicode11utf8 unicode20utf8 x-unicode20utf8",
  "utf-16le": "utf-16le utf-16 csunicode iso-10646-ucs-2 ucs-2 unicode unicodefeff",
  "windows-1252":
    "windows-1252 latin1 l1 ascii us-ascii ansi_x3.4-1968 cp819 cp1252 x-cp1252 ibm819 csisolatin1 iso-ir-100 " +
    "iso-8859-1 iso8859-1 iso88591 iso_8859-1 iso_8859-1:1987",
};

/** Bytes 80 to 9F; each of the others stands for the character of its own number. */
const WINDOWS_1252 = "€\x81‚ƒ„…†‡ˆ‰Š‹Œ\x8dŽ\x8f\x90‘’“”•–—˜™š›œ\x9džŸ";

function findEncoding(label: string): Encoding {
  const name = label.trim().toLowerCase();
  for (const encoding of Object.keys(LABELS) as Encoding[]) {
    if (LABELS[encoding].split(" ").includes(name)) return encoding;
  }
  throw new RangeError(`Cannot decode "${label}": use utf-8, utf-16le or latin1`);
}

function toBytes(input: unknown): Uint8Array {
  if (input === undefined) return new Uint8Array(0);
  if (input instanceof ArrayBuffer) return new Uint8Array(input);
  if (ArrayBuffer.isView(input)) return new Uint8Array(input.buffer, input.byteOffset, input.byteLength);
  throw new TypeError("Cannot decode what is neither an ArrayBuffer nor a view of one");
}

function utf16Decoder(fatal: boolean): Decode {
  /** Bytes of the stream that do not form a whole character yet. */
  let incomplete = new Uint8Array(0);
  return (bytes, last) => {
    const all = new Uint8Array(incomplete.length + bytes.length);
    all.set(incomplete);
    all.set(bytes, incomplete.length);
    let units = new Uint16Array(all.buffer, 0, all.length >> 1);
    if (((units.at(-1) ?? 0) & 0xfc00) === 0xd800) units = units.subarray(0, -1);
    const rest = all.slice(units.length * 2);
    incomplete = last ? new Uint8Array(0) : rest;
    const text = codeUnitsToText(units) + (last && rest.length > 0 ? "\ud800" : "");
    const fixed = wellFormed(text);
    if (fatal && fixed !== text) throw new TypeError("Cannot decode bytes that are no text in this encoding");
    return fixed;
  };
}

function windows1252(bytes: Uint8Array): string {
  const codes = Uint16Array.from(bytes, (byte) =>
    byte >= 0x80 && byte <= 0x9f ? WINDOWS_1252.charCodeAt(byte - 0x80) : byte,
  );
  return codeUnitsToText(codes);
}
