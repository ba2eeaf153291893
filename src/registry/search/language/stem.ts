/** Maximum cached stems; catalogs use few words often. */
const KEPT_STEMS = 20_000;
const stems = new Map<string, string>();

/**
 * Returns the common stem of the forms of an English word: `calculate`, `calculating` and `calculation` have one stem. The
 * algorithm is M. F. Porter's of 1980. Words of other scripts are returned unchanged.
 */
export function stem(word: string): string {
  const cached = stems.get(word);
  if (cached !== undefined) return cached;
  const result = word.length > 2 && word.length < 40 && /^[a-z]+$/.test(word) ? computeStem(word) : word;
  if (stems.size >= KEPT_STEMS) stems.clear();
  stems.set(word, result);
  return result;
}

function computeStem(word: string): string {
  // A `y` that sounds like a consonant is written `Y`, so that one table of vowels is enough.
  const marked = word.replace(/^y/, "Y").replace(/([aeiou])y/g, "$1Y");
  const singular = withoutPlural(marked);
  const present = withoutPast(singular);
  const turned = present.replace(/^(.*[aeiouy].*)y$/, "$1i");
  const short = replaceEnding(replaceEnding(turned, DOUBLE_ENDINGS, 1), MIDDLE_ENDINGS, 1);
  return tidied(replaceEnding(short, LAST_ENDINGS, 2)).toLowerCase();
}

function withoutPlural(word: string): string {
  if (/(?:ss|i)es$/.test(word)) return word.slice(0, -2);
  return /[^s]s$/.test(word) ? word.slice(0, -1) : word;
}

function withoutPast(word: string): string {
  if (word.endsWith("eed")) return measure(word.slice(0, -3)) > 0 ? word.slice(0, -1) : word;
  const base = /^(.*[aeiouy].*)(?:ed|ing)$/.exec(word)?.[1];
  if (base === undefined) return word;
  if (/(?:at|bl|iz)$/.test(base)) return `${base}e`;
  if (/([^aeiouylsz])\1$/.test(base)) return base.slice(0, -1);
  return measure(base) === 1 && isShort(base) ? `${base}e` : base;
}

type Endings = readonly (readonly [ending: string, instead: string])[];

const DOUBLE_ENDINGS: Endings = [
  ["ational", "ate"],
  ["tional", "tion"],
  ["enci", "ence"],
  ["anci", "ance"],
  ["izer", "ize"],
  ["bli", "ble"],
  ["alli", "al"],
  ["entli", "ent"],
  ["eli", "e"],
  ["ousli", "ous"],
  ["ization", "ize"],
  ["ation", "ate"],
  ["ator", "ate"],
  ["alism", "al"],
  ["iveness", "ive"],
  ["fulness", "ful"],
  ["ousness", "ous"],
  ["aliti", "al"],
  ["iviti", "ive"],
  ["biliti", "ble"],
  ["logi", "log"],
];

const MIDDLE_ENDINGS: Endings = [
  ["icate", "ic"],
  ["ative", ""],
  ["alize", "al"],
  ["iciti", "ic"],
  ["ical", "ic"],
  ["ful", ""],
  ["ness", ""],
];

const LAST_ENDINGS: Endings = [
  ..."ement ance ence able ible ment ant ent ism ate iti ous ive ize al er ic ou"
    .split(" ")
    .map((ending) => [ending, ""] as const),
  ["sion", "s"],
  ["tion", "t"],
];

/** Replaces the first matching ending of a word, if the rest is long enough. */
function replaceEnding(word: string, endings: Endings, least: number): string {
  const found = endings.find(([ending]) => word.endsWith(ending));
  if (found === undefined) return word;
  const [ending, instead] = found;
  const base = word.slice(0, -ending.length);
  return measure(least === 2 ? base + instead : base) >= least ? base + instead : word;
}

function tidied(word: string): string {
  const base = word.slice(0, -1);
  if (word.endsWith("e") && (measure(base) > 1 || (measure(base) === 1 && !isShort(base)))) return base;
  return word.endsWith("ll") && measure(word) > 1 ? base : word;
}

/** Counts the vowel-consonant sequences: roughly the number of removable syllables. */
function measure(word: string): number {
  return word.match(/[aeiouy]+[^aeiouy]+/g)?.length ?? 0;
}

/** True if the word ends in consonant, vowel, consonant: `hop`, `fil`. */
function isShort(word: string): boolean {
  return /[^aeiouy][aeiouy][^aeiouywxY]$/.test(word);
}
