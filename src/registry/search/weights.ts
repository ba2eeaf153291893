/**
 * Every number of the ranking. Those without a source were set by hand, for recall on the public tool sets of
 * `test/registry/search-recall.test.ts`: run it after a change.
 */

/**
 * The fields of a method, with the weight of a word and the length normalization of each field (BM25F). The average lengths
 * are constants, so that entries do not depend on each other and the index never has to be rebuilt.
 */
export const FIELDS = {
  name: { weight: 2.5, bias: 0.5, usualWords: 2.5 },
  skill: { weight: 1.5, bias: 0.2, usualWords: 2 },
  description: { weight: 1.2, bias: 0.5, usualWords: 16 },
  path: { weight: 1, bias: 0.3, usualWords: 3 },
  parameterNames: { weight: 1, bias: 0.4, usualWords: 4 },
  parameterTexts: { weight: 0.5, bias: 0.6, usualWords: 28 },
  tags: { weight: 1, bias: 0.4, usualWords: 3 },
  examples: { weight: 0.6, bias: 0.4, usualWords: 60 },
  skillTexts: { weight: 0.3, bias: 0.6, usualWords: 20 },
} as const;

/** Saturation of repeated words: k1 of BM25, usually from 1.2 to 2. */
export const SATURATION = 1.3;

/** Smoothing of the inverse document frequency: the constant of BM25. */
const RARITY_SMOOTHING = 0.5;

/** The inverse document frequency of BM25: `found` of `size` methods have the word. */
export function getRarity(found: number, size: number): number {
  return Math.log(1 + (size - found + RARITY_SMOOTHING) / (found + RARITY_SMOOTHING));
}

/** Two neighbouring words of a method's name as one word: `github` finds `git_hub`. */
export const NAME_PAIR_WEIGHT = 0.3;

/** Words of a query relative to an ordinary one: common verbs, numbers, neighbouring words as one, stop words. */
export const WEAK_WORD_WEIGHT = 0.7;
export const NUMBER_WEIGHT = 0.3;
export const QUERY_PAIR_WEIGHT = 0.5;
export const STOP_WORD_WEIGHT = 0.15;

/** Alternatives relative to the word itself: synonyms, words with a typing error, words that begin like it. */
export const SYNONYM_WEIGHT = 0.4;
export const TYPING_ERROR_WEIGHT = 0.7;
export const BEGINNING_WEIGHT = 0.6;

/** Synonyms and guesses that more methods have are skipped as too common: this share of all, but at least this number. */
export const COMMON_SHARE = 0.05;
export const MIN_COMMON = 1_000;

/** Maximum methods that an observed word may stand for; a word of more methods is ignored. */
export const MAX_SAVED_MEANINGS = 40;

/**
 * Weight of an observed word relative to a word of an example. It falls with the number of used methods that the word stands
 * for: to the power given, relative to a word of one method. Chosen and measured on MetaTool: requests for other methods than the
 * used ones lose 1.5 of recall@5 in place of 5.8, requests for used ones gain as much as before.
 */
const SAVED_WEIGHT = 0.7;
const SAVED_RARITY_POWER = 2;

export function getObservedWeight(meanings: number, usedMethods: number): number {
  return SAVED_WEIGHT * (getRarity(meanings, usedMethods) / getRarity(1, usedMethods)) ** SAVED_RARITY_POWER;
}

/** Bonus if the query has all words of a method's name. With 0.5, recall@5 of bfcl falls by 0.4, and of Seal-Tools by 0.3. */
export const WHOLE_NAME_BONUS = 0.2;

/**
 * For methods of APIs: the weight of the verb, how much the score falls if the query has none of the words of the path's last
 * segment, and of those before it, how much for each of these, and the factor for a deprecated method. Chosen among about 450
 * settings on half of the questions for GitHub in `test/fixtures/search/questions`; the other sets were held out.
 */
export const REQUEST_WEIGHTS = { fit: 0.4, subjectWords: 0.6, contextWords: 0.2, segments: 0.1, deprecated: 0.75 };

/** Factor on a method's score for each better method of the same name: copies must not fill the answer. */
export const SAME_NAME_FACTOR = 0.7;

/**
 * In a query of several clauses, how much of a clause, and of a term, is settled by the method that matches it best. Chosen
 * among about 30 settings on all requests of `npm run bench:search` and on pairs of them, without requests held out.
 */
export const CLAUSE_SETTLED_SHARE = 0.7;
export const SETTLED_SHARE = 0.1;

/** Tiers above every score: the path or the name is in the query, the query is a skill's name or begins a method's name. */
export const EXACT_TIER = 3;
export const SKILL_TIER = 2;
export const BEGINNING_TIER = 1;

/**
 * If the best score is below this, probably no method does what was asked; a long query has many words without a match. A
 * few percent of the queries whose method is among the first five score less, a quarter for MetaTool; see .github/BENCHMARKS.md.
 */
export const DOUBTFUL_SCORE = 0.1;
export const DOUBTFUL_SCORE_OF_SHORT = 0.3;
export const MAX_SHORT_QUERY_WORDS = 6;
