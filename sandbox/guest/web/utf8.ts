/** Decodes the next bytes of a stream; with the last ones everything must be complete. */
export type Decode = (bytes: ArrayLike<number>, last: boolean) => string;

/** Text of UTF-8 bytes, with U+FFFD where they are none. */
export function textOfUtf8(bytes: ArrayLike<number>): string {
  return utf8Decoder(false)(bytes, true);
}

/** The UTF-8 decoder of the Encoding standard: what is no UTF-8 becomes U+FFFD, or an error if it is `fatal`. */
export function utf8Decoder(fatal: boolean): Decode {
  let point = 0;
  let missing = 0;
  /** Between these the next byte must be: overlong forms, surrogates and what is beyond U+10FFFF are no UTF-8. */
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
    return textOfPoints(points);
  };
}

/** Writes as many whole characters as there is room for; `read` counts UTF-16 units. */
export function writeUtf8(text: string, bytes: Uint8Array): { read: number; written: number } {
  let read = 0;
  let written = 0;
  while (read < text.length) {
    const point = text.codePointAt(read) as number;
    const scalar = point >= 0xd800 && point <= 0xdfff ? 0xfffd : point;
    const size = scalar < 0x80 ? 1 : scalar < 0x800 ? 2 : scalar < 0x10000 ? 3 : 4;
    if (written + size > bytes.length) break;
    bytes[written++] = size === 1 ? scalar : ((0xf00 >> size) & 0xff) | (scalar >> (6 * (size - 1)));
    for (let rest = size - 2; rest >= 0; rest--) bytes[written++] = 0x80 | ((scalar >> (6 * rest)) & 0x3f);
    read += size === 4 ? 2 : 1;
  }
  return { read, written };
}

/** The text of many code points, some thousands at a time: each is an argument, and arguments lie on the stack. */
export function textOfPoints(points: readonly number[]): string {
  let text = "";
  for (let at = 0; at < points.length; at += 2_048) text += String.fromCodePoint(...points.slice(at, at + 2_048));
  return text;
}

function malformed(fatal: boolean): number {
  if (fatal) throw new TypeError("Cannot decode bytes that are no text in this encoding");
  return 0xfffd;
}
