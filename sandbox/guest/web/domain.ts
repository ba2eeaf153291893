import { decodePunycode, encodePunycode } from "./punycode.ts";

/**
 * A domain as it is asked for: small letters, and other scripts in Punycode. The tables of Unicode's UTS 46 would be
 * larger than all else in the guest. So a name of letters outside of the common scripts is refused; it is never changed
 * into a wrong one.
 */
export function domainToAscii(domain: string): string | undefined {
  const letters = domain.normalize("NFC").replaceAll("\u3002", ".");
  if (!isAscii(letters) && letters.normalize("NFKC") !== letters) return undefined;
  const labels = letters.split(".").map(labelToAscii);
  return labels.includes(undefined) ? undefined : labels.join(".");
}

/** Letters of the scripts in which most names are written, where a small letter is all that UTS 46 wants. */
const KNOWN =
  /^[-\dA-Za-z\u00c0-\u024f\u0300-\u04bf\u04c1-\u052f\u0531-\u058a\u0900-\u0e7f\u1e00-\u1e9d\u1e9f-\u1fff\u3005\u3040-\u30ff\u3400-\u9fff\uac00-\ud7a3]+$/;

function labelToAscii(label: string): string | undefined {
  const small = smallLetters(label);
  if (small.startsWith("xn--")) {
    const decoded = decodePunycode(small.slice(4));
    return decoded !== undefined && isValid(decoded) && encoded(decoded) === small ? small : undefined;
  }
  if (isAscii(small)) return small;
  return KNOWN.test(label) && isValid(small) ? encoded(small) : undefined;
}

/** Letter by letter: for the language, but not for names, a sigma at the end of a word is an exception. */
function smallLetters(label: string): string {
  return Array.from(label, (letter) => letter.toLowerCase()).join("");
}

/** From text, because a literal with classes of this size would make every isolate's image larger. */
function isWord(label: string): boolean {
  return new RegExp("^[\\p{L}\\p{Nd}-][\\p{L}\\p{M}\\p{Nd}-]*$", "u").test(label);
}

function isValid(label: string): boolean {
  if (!KNOWN.test(label) || !isWord(label)) return false;
  return !isAscii(label) && label.normalize("NFC") === label && smallLetters(label) === label;
}

function encoded(label: string): string {
  return `xn--${encodePunycode(label)}`;
}

function isAscii(text: string): boolean {
  return /^[ -~]*$/.test(text);
}
