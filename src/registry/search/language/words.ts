import { stem } from "./stem.ts";

/** Maximum length of a word; longer ones are data. */
const WORD_UNITS = 40;

/** Scripts that are written without spaces: their words are pairs of neighbouring characters. */
const UNSPACED = /[\p{sc=Han}\p{sc=Hiragana}\p{sc=Katakana}\p{sc=Thai}\p{sc=Lao}\p{sc=Khmer}\p{sc=Myanmar}]/u;

const ASCII_WORDS = /[A-Z]+(?![a-z])|[A-Z]?[a-z]+|\d+/g;
const UNICODE_WORDS =
  /[\p{sc=Han}\p{sc=Hiragana}\p{sc=Katakana}\p{sc=Thai}\p{sc=Lao}\p{sc=Khmer}\p{sc=Myanmar}\p{M}ー]+|\p{Lu}+(?!\p{Ll})|\p{Lu}?[\p{Ll}\p{Lo}\p{Lm}\p{M}]+|\p{N}+/gu;

const ACCENTS = /[\u0300-\u036F]+/g;

/**
 * Splits a text into lower-case words, like identifiers: at separators, between `camel` and `Case`, between letters and
 * digits. Accents are removed.
 */
export function splitWords(text: string): readonly string[] {
  // oxlint-disable-next-line no-control-regex -- all of ASCII
  const found = /^[\0-\x7F]*$/.test(text) ? text.match(ASCII_WORDS) : splitUnicodeWords(text);
  const words: string[] = [];
  for (const word of found ?? []) if (word.length <= WORD_UNITS) words.push(word.toLowerCase());
  return words;
}

function splitUnicodeWords(text: string): readonly string[] {
  const plain = text.normalize("NFKD").replace(ACCENTS, "").normalize("NFC");
  return (plain.match(UNICODE_WORDS) ?? []).flatMap(splitUnspaced);
}

/** Returns the stems of the words of a text, in order. */
export function getStems(text: string): readonly string[] {
  return splitWords(text).map((word) => stem(word));
}

/** Folds case and separators of a name: `read_text-file`, `ReadTextFile` and `read text file` are equal. */
export function foldedName(name: string): string {
  return name
    .normalize("NFKD")
    .toLowerCase()
    .replace(/[^\p{L}\p{N}]+/gu, "");
}

function splitUnspaced(word: string): readonly string[] {
  if (!UNSPACED.test(word)) return [word];
  const characters = Array.from(word);
  if (characters.length < 3) return [word];
  return characters.slice(1).map((character, at) => (characters[at] ?? "") + character);
}
