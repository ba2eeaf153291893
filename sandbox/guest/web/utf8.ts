import { wellFormed } from "../primordials.ts";

/** Decodes the next bytes of a stream; with the last ones everything must be complete. */
export type Decode = (bytes: Uint8Array, last: boolean) => string;

/** Decodes UTF-8, with U+FFFD for invalid bytes. */
export function decodeUtf8(bytes: Uint8Array): string {
  return utf8Decoder(false)(bytes, true);
}

/** The UTF-8 decoder of the Encoding standard: invalid bytes become U+FFFD, or an error if it is `fatal`. */
export function utf8Decoder(fatal: boolean): Decode {
  let point = 0;
  let missing = 0;
  /** Bounds of the next byte, which exclude overlong forms, surrogates and code points beyond U+10FFFF. */
  let least = 0x80;
  let most = 0xbf;
  const begin = (byte: number): number | undefined => {
    if (byte < 0x80) return byte;
    if (byte < 0xc2 || byte > 0xf4) return malformed(fatal);
    missing = byte < 0xe0 ? 1 : byte < 0xf0 ? 2 : 3;
    point = byte & (0x3f >> missing);
    least = byte === 0xe0 ? 0xa0 : byte === 0xf0 ? 0x90 : 0x80;
    most = byte === 0xed ? 0x9f : byte === 0xf4 ? 0x8f : 0xbf;
    return undefined;
  };
  return (bytes, last) => {
    const whole = missing === 0 ? decodeWhole(bytes) : undefined;
    if (whole !== undefined) return whole;
    const points: number[] = [];
    for (let i = 0; i < bytes.length; i++) {
      const byte = bytes[i] as number;
      let next: number | undefined;
      if (missing === 0) next = begin(byte);
      else if (byte < least || byte > most) {
        missing = 0;
        i--; // it may begin the next character
        next = malformed(fatal);
      } else {
        point = (point << 6) | (byte & 0x3f);
        least = 0x80;
        most = 0xbf;
        if (--missing === 0) next = point;
      }
      if (next !== undefined) points.push(next);
    }
    if (last && missing > 0) points.push(malformed(fatal));
    return codePointsToText(points);
  };
}

/** Encodes a text as UTF-8, lone surrogates as U+FFFD. */
export function encodeUtf8(text: string): Uint8Array {
  // The engine's own functions for URLs are many times faster than a loop over characters.
  const binary = unescape(encodeURIComponent(wellFormed(text)));
  const { length } = binary;
  const bytes = new Uint8Array(length);
  for (let i = 0; i < length; i++) bytes[i] = binary.charCodeAt(i);
  return bytes;
}

/** Converts some thousands of units at a time, because each is an argument, and arguments lie on the stack. */
export function codeUnitsToText(codes: Uint8Array | Uint16Array): string {
  let text = "";
  for (let at = 0; at < codes.length; at += 4_096) text += String.fromCharCode(...codes.subarray(at, at + 4_096));
  return text;
}

function decodeWhole(bytes: Uint8Array): string | undefined {
  try {
    return decodeURIComponent(escape(codeUnitsToText(bytes)));
  } catch {
    return undefined; // invalid UTF-8, or cut in the middle of a character
  }
}

/** Converts code points to text, some thousands at a time as well. */
export function codePointsToText(points: readonly number[]): string {
  let text = "";
  for (let at = 0; at < points.length; at += 2_048) text += String.fromCodePoint(...points.slice(at, at + 2_048));
  return text;
}

function malformed(fatal: boolean): number {
  if (fatal) throw new TypeError("Cannot decode bytes that are no text in this encoding");
  return 0xfffd;
}
