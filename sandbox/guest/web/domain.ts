import { decodePunycode, encodePunycode } from "./punycode.ts";

/**
 * A domain as it is asked for: small letters, and other scripts in Punycode. The tables of Unicode's UTS 46 would be
 * larger than all else in the guest. So a name with letters outside of the common scripts is an error; it is never
 * changed into a wrong one.
 */
export function domainToAscii(domain: string): string {
  return domain
    .normalize("NFC")
    .replace(/[\u3002\uff0e\uff61]/g, ".")
    .split(".")
    .map(labelToAscii)
    .join(".");
}

/** Letters of the scripts in which most names are written, where a small letter is all that UTS 46 wants. */
const KNOWN =
  /^[-\dA-Za-z\u00c0-\u024f\u0300-\u04bf\u04c1-\u052f\u0531-\u058a\u0900-\u0e7f\u1e00-\u1e9d\u1e9f-\u1fff\u3005\u3040-\u30ff\u3400-\u9fff\uac00-\ud7a3]+$/;

function labelToAscii(label: string): string {
  const small = smallLetters(label);
  if (small.startsWith("xn--")) {
    const word = decodePunycode(small.slice(4));
    if (word !== undefined && smallLetters(word) === word && isKnown(word) && encoded(word) === small) return small;
  } else if (/^[\0-\x7f]*$/.test(small)) return small;
  else if (isKnown(label) && isKnown(small)) return encoded(small);
  throw new TypeError(`Cannot read the name "${label}": only letters of common scripts are known here`);
}

/** Letter by letter: for the language, but not for names, a sigma at the end of a word is an exception. */
function smallLetters(label: string): string {
  return Array.from(label, (letter) => letter.toLowerCase()).join("");
}

/** The last check is made of text, because a literal with such classes would be the largest part of the image. */
function isKnown(label: string): boolean {
  if (!KNOWN.test(label) || label.normalize("NFKC") !== label) return false;
  return /[^\0-\x7f]/.test(label) && new RegExp("^[\\p{L}\\p{Nd}-][\\p{L}\\p{M}\\p{Nd}-]*$", "u").test(label);
}

function encoded(label: string): string {
  return `xn--${encodePunycode(label)}`;
}
