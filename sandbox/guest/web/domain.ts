import { decodePunycode, encodePunycode } from "./punycode.ts";

/**
 * Returns a domain in the form used by DNS: small letters, and other scripts in Punycode. The tables of Unicode's UTS 46 would be
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

/** Characters of the scripts in which most names are written, where small letters are all that UTS 46 wants. */
const KNOWN: readonly (readonly [first: number, last: number])[] = [
  [0x2d, 0x2d], // hyphen
  [0x30, 0x39], // digits
  [0x41, 0x5a], // Latin, and so on
  [0x61, 0x7a],
  [0xc0, 0x24f],
  [0x1e00, 0x1e9d],
  [0x1e9f, 0x1eff],
  [0x300, 0x36f], // marks above and below
  [0x370, 0x3ff], // Greek
  [0x1f00, 0x1fff],
  [0x400, 0x4bf], // Cyrillic
  [0x4c1, 0x52f],
  [0x531, 0x58a], // Armenian
  [0x900, 0xe7f], // Devanagari to Thai
  [0x3005, 0x3005], // Chinese and Japanese
  [0x3040, 0x30ff],
  [0x3400, 0x9fff],
  [0xac00, 0xd7a3], // Korean
];

function labelToAscii(label: string): string {
  const small = smallLetters(label);
  if (small.startsWith("xn--")) {
    const word = decodePunycode(small.slice(4));
    if (word !== undefined && smallLetters(word) === word && isKnown(word) && encoded(word) === small) return small;
  } else if (/^[\0-\x7f]*$/.test(small)) return small;
  else if (isKnown(label) && isKnown(small)) return encoded(small);
  throw new TypeError(`Cannot read the name "${label}": only letters of common scripts are known here`);
}

/** Converts letter by letter: `toLowerCase` of a word treats a final sigma specially, names do not. */
function smallLetters(label: string): string {
  return Array.from(label, (letter) => letter.toLowerCase()).join("");
}

function isKnown(label: string): boolean {
  const isAssigned = Array.from(label).every((letter) => {
    const point = letter.codePointAt(0) as number;
    return KNOWN.some(([first, last]) => first <= point && point <= last);
  });
  if (!isAssigned || /^[\0-\x7f]*$/.test(label) || label.normalize("NFKC") !== label) return false;
  // From text, because a literal with such classes would be the largest part of every isolate's image.
  return new RegExp("^[\\p{L}\\p{Nd}-][\\p{L}\\p{M}\\p{Nd}-]*$", "u").test(label);
}

function encoded(label: string): string {
  return `xn--${encodePunycode(label)}`;
}
