import { apply, charCodeAt, create, define, fromCharCode, NativeError, subarray } from "./primordials.ts";

const NativeBytes = Uint8Array;
/** Bytes encoded at once; they give a third more letters. */
const CHUNK = 3_072;

const ALPHABET = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
/** Letter codes by value, and values by letter, which is the fastest lookup. */
const CODES = new NativeBytes(64);
const SEXTETS = create(null) as Record<string, number>;
for (let i = 0; i < ALPHABET.length; i++) {
  CODES[i] = charCodeAt(ALPHABET, i);
  SEXTETS[ALPHABET[i] as string] = i;
}
const PADDING = 61;

/** Encodes standard base64 with padding (RFC 4648, section 4). */
export function bytesToBase64(bytes: ArrayLike<number>): string {
  const { length } = bytes;
  let text = "";
  for (let from = 0; from < length; from += CHUNK) {
    text += chunkToBase64(bytes, from, from + CHUNK < length ? from + CHUNK : length);
  }
  return text;
}

function chunkToBase64(bytes: ArrayLike<number>, from: number, to: number): string {
  const codes = new NativeBytes(((to - from + 2) / 3) << 2);
  let at = 0;
  for (let i = from; i < to; i += 3) {
    const a = bytes[i] as number;
    const b = i + 1 < to ? (bytes[i + 1] as number) : 0;
    const c = i + 2 < to ? (bytes[i + 2] as number) : 0;
    codes[at++] = CODES[a >> 2] as number;
    codes[at++] = CODES[((a & 3) << 4) | (b >> 4)] as number;
    codes[at++] = CODES[((b & 15) << 2) | (c >> 6)] as number;
    codes[at++] = CODES[c & 63] as number;
  }
  const missing = (3 - ((to - from) % 3)) % 3;
  for (let i = 1; i <= missing; i++) codes[at - i] = PADDING;
  return codesToText(codes);
}

/** Decodes base64, ASCII white space ignored, padding optional; throws as `atob` does. */
export function base64ToBytes(text: string): Uint8Array {
  const { length } = text;
  const sextets = new NativeBytes(length);
  let count = 0;
  let padding = 0;
  for (let i = 0; i < length; i++) {
    const letter = text[i] as string;
    const sextet = SEXTETS[letter];
    if (sextet !== undefined && padding === 0) sextets[count++] = sextet;
    else if (letter === "=") padding++;
    else if (letter !== " " && letter !== "\n" && letter !== "\r" && letter !== "\t" && letter !== "\f")
      throw invalid("Cannot decode text that is not base64");
  }
  const rest = count % 4;
  if (rest === 1 || padding > 2 || (padding > 0 && (rest + padding) % 4 !== 0))
    throw invalid("Cannot decode text that is not base64");
  const bytes = new NativeBytes((count * 6) >> 3);
  for (let i = 0, at = 0; at < bytes.length; i += 4) {
    const [a, b, c, d] = [sextets[i], sextets[i + 1], sextets[i + 2], sextets[i + 3]] as [
      number,
      number,
      number,
      number,
    ];
    bytes[at++] = (a << 2) | (b >> 4);
    bytes[at++] = (b << 4) | (c >> 2);
    bytes[at++] = (c << 6) | d;
  }
  return bytes;
}

/** Defines `btoa` and `atob` of the HTML standard. */
export function defineBase64(): void {
  define(globalThis, "btoa", function btoa(value: unknown): string {
    const text = `${value as string}`;
    const bytes = new NativeBytes(text.length);
    for (let i = 0; i < text.length; i++) {
      const code = charCodeAt(text, i);
      if (code > 255) throw invalid("Cannot encode a character above U+00FF: encode the text with TextEncoder first");
      bytes[i] = code;
    }
    return bytesToBase64(bytes);
  });
  define(globalThis, "atob", function atob(value: unknown): string {
    const bytes = base64ToBytes(`${value as string}`);
    const { length } = bytes;
    let text = "";
    for (let from = 0; from < length; from += CHUNK) text += codesToText(subarray(bytes, from, from + CHUNK));
    return text;
  });
}

/** Takes some thousands of codes at most: each becomes an argument, and arguments lie on the stack. */
function codesToText(codes: Uint8Array): string {
  return apply(fromCharCode, undefined, codes as unknown as unknown[]) as string;
}

function invalid(message: string): Error {
  const error = new NativeError(message);
  define(error, "name", "InvalidCharacterError");
  return error;
}
