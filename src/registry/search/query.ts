import { stem } from "./stem.ts";
import { STOP_WORDS, WEAK_WORDS } from "./stop-words.ts";
import { getSynonyms } from "./synonyms.ts";
import { NUMBER_WEIGHT, QUERY_PAIR_WEIGHT, STOP_WORD_WEIGHT, SYNONYM_WEIGHT, WEAK_WORD_WEIGHT } from "./weights.ts";
import { foldedName, splitWords } from "./words.ts";

/** Maximum length of a query, and maximum words: separated by spaces, and after splitting those. */
const QUERY_UNITS = 5_000;
const MAX_QUERY_WORDS = 128;
const MAX_WORDS = 300;

/** Maximum length of a name, and maximum name-like words that are looked up. */
const NAME_UNITS = 200;
const MAX_NAMES = 20;

/** Queries of up to this many words keep their stop words at a low weight: `turn on` is not `turn off`. */
const SHORT_WORDS = 4;

const WEAK_STEMS: ReadonlySet<string> = new Set(Array.from(WEAK_WORDS, stem));

/** A term of a query: a word, or a pair of neighbouring words, with its alternatives. */
export interface QueryTerm {
  /** The word as written in the query; empty for a pair. */
  readonly word: string;
  readonly stem: string;
  readonly weight: number;
  readonly alternatives: readonly Alternative[];
}

export interface Alternative {
  readonly stem: string;
  /** Its weight relative to the term's own word. */
  readonly share: number;
}

export interface Query {
  readonly terms: readonly QueryTerm[];
  /** Number of sentences; several sentences ask for several things. `then` starts a new one. */
  readonly sentences: number;
  /** The query as a name, without case and separators; empty if it is too long for a name. */
  readonly folded: string;
  /** `folded` and the name-like words of the query, folded: `read_text_file`, `Skill.method`. */
  readonly names: readonly string[];
  readonly wordCount: number;
}

/** Splits a query into terms. Drops stop words if other words remain; a short query keeps them at a low weight. */
export function parseQuery(text: string): Query {
  const bounded = boundedQuery(text).replace(/\bdevices?\.(?=\w)/g, "");
  const words = splitWords(bounded);
  const telling = words.filter((word) => !STOP_WORDS.has(word));
  const kept = telling.length === 0 || words.length <= SHORT_WORDS ? words : telling;
  const folded = bounded.length <= NAME_UNITS ? foldedName(bounded) : "";
  const sentences = bounded.split(/[.!?;\n](?=\s|$)|[。！？；]|\bthen\b/i);
  return {
    terms: parseTerms(kept, telling.length > 0),
    sentences: sentences.filter((sentence) => /[\p{L}\p{N}]/u.test(sentence)).length,
    folded,
    names: [...new Set([folded, ...findNames(bounded)])].filter((name) => name !== ""),
    wordCount: words.length,
  };
}

/** Returns the stems of a query that may be learned: no numbers and no stop words. */
export function learnableStems(text: string): readonly string[] {
  const words = splitWords(boundedQuery(text));
  const telling = words.filter((word) => !STOP_WORDS.has(word) && !/^\p{N}+$/u.test(word));
  return [...new Set(telling.map(stem))];
}

function boundedQuery(text: string): string {
  // Normalization can turn one character into eighteen.
  const bounded = text.slice(0, QUERY_UNITS).normalize("NFKC").slice(0, QUERY_UNITS);
  const words = new Set<string>();
  for (const { 0: word, index } of bounded.matchAll(/\S+/g)) {
    words.add(word.toLowerCase());
    if (words.size > MAX_QUERY_WORDS) return bounded.slice(0, index).trimEnd();
  }
  return bounded;
}

/** True for a word whose missing match is worth reporting: no number, no stop word, no pair. */
export function isSignificant(term: QueryTerm): boolean {
  return term.word !== "" && term.weight > NUMBER_WEIGHT;
}

/** False for the stop words of a query that has other words. */
export function isIntended(term: QueryTerm): boolean {
  return term.weight > STOP_WORD_WEIGHT;
}

function parseTerms(words: readonly string[], stopWordsAreFaint: boolean): readonly QueryTerm[] {
  const terms = new Map<string, QueryTerm>();
  for (const word of words) {
    if (terms.size >= MAX_WORDS) break;
    const root = stem(word);
    const weight = stopWordsAreFaint && STOP_WORDS.has(word) ? STOP_WORD_WEIGHT : getWeight(word);
    if (!terms.has(root)) terms.set(root, { word, stem: root, weight, alternatives: getSynonymAlternatives(root) });
  }
  const stems = words.slice(0, MAX_WORDS).map(stem);
  for (const [at, second] of stems.slice(1).entries()) {
    const pair = (stems[at] ?? "") + second;
    if (!terms.has(pair)) terms.set(pair, { word: "", stem: pair, weight: QUERY_PAIR_WEIGHT, alternatives: [] });
  }
  return [...terms.values()];
}

function getWeight(word: string): number {
  if (/^\d+$/.test(word)) return NUMBER_WEIGHT;
  return WEAK_STEMS.has(stem(word)) ? WEAK_WORD_WEIGHT : 1;
}

function getSynonymAlternatives(root: string): readonly Alternative[] {
  return Array.from(getSynonyms(root), (other) => ({ stem: other, share: SYNONYM_WEIGHT }));
}

/** Finds words with a separator or a capital inside, as names have and plain words do not. */
function findNames(text: string): readonly string[] {
  const words = text.match(/[\p{L}\p{N}_$.-]+/gu) ?? [];
  const shaped = words.filter(
    (word) => word.length <= NAME_UNITS && /[\p{L}\p{N}](?:[_.-][\p{L}\p{N}]|(?<=\p{Ll})\p{Lu})/u.test(word),
  );
  return shaped.slice(0, MAX_NAMES).map(foldedName);
}
