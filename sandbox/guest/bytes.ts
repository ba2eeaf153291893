import { charCodeAt, define, fromCharCode, NativeError } from "./primordials.ts";

const ALPHABET = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

/** Standard base64 with padding (RFC 4648, section 4). */
export function base64OfBytes(bytes: ArrayLike<number>): string {
  let text = "";
  for (let i = 0; i < bytes.length; i += 3) {
    const a = bytes[i] as number;
    const b = bytes[i + 1];
    const c = bytes[i + 2];
    text += letter(a >> 2);
    text += letter(((a & 3) << 4) | ((b ?? 0) >> 4));
    text += b === undefined ? "=" : letter(((b & 15) << 2) | ((c ?? 0) >> 6));
    text += c === undefined ? "=" : letter(c & 63);
  }
  return text;
}

/** Bytes of base64 text, ASCII white space ignored, padding optional; throws as `atob` does. */
export function bytesOfBase64(text: string): Uint8Array {
  const sextets: number[] = [];
  let padding = 0;
  for (let i = 0; i < text.length; i++) {
    const code = charCodeAt(text, i);
    if (code === 32 || (code >= 9 && code <= 13 && code !== 11)) continue;
    if (code === 61) {
      padding++;
      continue;
    }
    const value = sextetOf(code);
    if (value < 0 || padding > 0) throw invalid();
    define(sextets, sextets.length, value);
  }
  const rest = sextets.length % 4;
  if (rest === 1 || padding > 2 || (padding > 0 && (rest + padding) % 4 !== 0)) throw invalid();
  const bytes = new NativeBytes((sextets.length * 6) >> 3);
  for (let i = 0, bits = 0, held = 0, at = 0; i < sextets.length; i++) {
    held = ((held << 6) | (sextets[i] as number)) & 0xffff;
    bits += 6;
    if (bits >= 8) {
      bits -= 8;
      bytes[at++] = (held >> bits) & 255;
    }
  }
  return bytes;
}

/** `btoa` and `atob` of the HTML standard. */
export function defineBase64(): void {
  define(globalThis, "btoa", function btoa(value: unknown): string {
    const text = `${value as string}`;
    const bytes = new NativeBytes(text.length);
    for (let i = 0; i < text.length; i++) {
      const code = charCodeAt(text, i);
      if (code > 255)
        throw new NativeError("Cannot encode a character above U+00FF: encode the text with TextEncoder first");
      bytes[i] = code;
    }
    return base64OfBytes(bytes);
  });
  define(globalThis, "atob", function atob(value: unknown): string {
    const bytes = bytesOfBase64(`${value as string}`);
    let text = "";
    for (let i = 0; i < bytes.length; i++) text += fromCharCode(bytes[i] as number);
    return text;
  });
}

const NativeBytes = Uint8Array;

function letter(sextet: number): string {
  return ALPHABET[sextet] as string;
}

function sextetOf(code: number): number {
  if (code >= 65 && code <= 90) return code - 65;
  if (code >= 97 && code <= 122) return code - 71;
  if (code >= 48 && code <= 57) return code + 4;
  if (code === 43) return 62;
  return code === 47 ? 63 : -1;
}

function invalid(): Error {
  return new NativeError("Cannot decode text that is not base64");
}
