import { wellFormed } from "../primordials.ts";
import { decodeUtf8 } from "./utf8.ts";

/** Characters that have to be written as `%XX`, by the part of a URL in which they stand (URL standard, 1.3). */
export const ENCODED = {
  control: /[^ -~]/gu,
  fragment: /[^!#-;=?-_a-~]/gu,
  query: /[^!$-;=?-~]/gu,
  specialQuery: /[^!$-&(-;=?-~]/gu,
  path: /[^!$-;=@-\]_a-z|~]/gu,
  userinfo: /[^!$-.0-9A-Z_a-z~]/gu,
  form: /[^*\-.0-9A-Z_a-z]/gu,
} as const;

/** Writes the characters of one of the sets above as `%XX` of their UTF-8 bytes. */
export function percentEncode(text: string, encoded: RegExp): string {
  return text.replace(encoded, (character) => {
    const code = character.charCodeAt(0);
    if (code > 0x7f) return encodeURIComponent(wellFormed(character));
    return `%${code.toString(16).toUpperCase().padStart(2, "0")}`;
  });
}

/** Decodes `%XX` as UTF-8 bytes; other text stays as it is. */
export function percentDecode(text: string): string {
  return text.replace(/(?:%[\da-f]{2})+/gi, (run) => {
    const bytes = run.slice(1).split("%");
    return decodeUtf8(Uint8Array.from(bytes, (digits) => Number.parseInt(digits, 16)));
  });
}
