import { isWithinEditDistance } from "../../shared/suggest.ts";
import type { ObservedPostings } from "./observed-words.ts";
import type { Alternative, QueryTerm } from "./query.ts";
import { FOREIGN_STOP_WORDS } from "./language/foreign-words.ts";
import type { SearchedWords } from "./shared-index.ts";
import { BEGINNING_WEIGHT, TYPING_ERROR_WEIGHT } from "./weights.ts";

/** Maximum words of one query that get guesses, and maximum guesses for one word. */
const GUESSED_WORDS = 6;
const GUESSES = 4;

/** In a longer query, unknown words are names and values, not typing errors. */
const MAX_QUERY_WORDS = 16;

/** Adds guesses to terms that no method has: `serach`, `repo`, `authentication`. */
export function withSpellingGuesses(
  terms: readonly QueryTerm[],
  index: SearchedWords,
  observedPostings: ObservedPostings,
): readonly QueryTerm[] {
  const words = terms.filter((term) => term.word !== "");
  if (words.length > MAX_QUERY_WORDS) return terms;
  const isKnown = (stem: string): boolean => index.wordNumber(stem) !== undefined || observedPostings(stem).length > 0;
  const mayBeError = ({ word, stem }: QueryTerm): boolean => stem.length >= 3 && !FOREIGN_STOP_WORDS.has(word);
  const unknown = words.filter((term) => mayBeError(term) && !isKnown(term.stem));
  const guessed = new Set(unknown.slice(0, GUESSED_WORDS));
  return terms.map((term) =>
    guessed.has(term) ? { ...term, alternatives: [...term.alternatives, ...findGuesses(term.stem, index)] } : term,
  );
}

function findGuesses(word: string, index: SearchedWords): readonly Alternative[] {
  const edits = word.length < 4 ? 0 : word.length < 8 ? 1 : 2;
  const near: Alternative[] = [];
  for (const candidate of index.wordsBeginningLike(word)) {
    if (candidate.startsWith(word)) near.push({ stem: candidate, share: BEGINNING_WEIGHT });
    else if (edits > 0 && isWithinEditDistance(word, candidate, edits))
      near.push({ stem: candidate, share: TYPING_ERROR_WEIGHT });
  }
  const longest = longestBeginning(word, index);
  const all = longest === undefined ? near : [...near, { stem: longest, share: BEGINNING_WEIGHT }];
  const frequency = ({ stem }: Alternative): number => index.postings(stem).length;
  return all.sort((a, b) => b.share - a.share || frequency(b) - frequency(a)).slice(0, GUESSES);
}

/** Finds the longest known prefix of a word, if it has at least half of its length. */
function longestBeginning(word: string, index: SearchedWords): string | undefined {
  for (let length = word.length - 1; length >= Math.max(4, word.length / 2); length--) {
    const beginning = word.slice(0, length);
    if (index.wordNumber(beginning) !== undefined) return beginning;
  }
  return undefined;
}
