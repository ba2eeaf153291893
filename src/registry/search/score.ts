import type { ObservedPostings } from "./observed-words.ts";
import type { MethodIndex } from "./method-index.ts";
import { type QueryTerm, isIntended } from "./query.ts";
import type { SearchedWords, VisibleIndex } from "./shared-index.ts";
import { COMMON_SHARE, getRarity, MIN_COMMON } from "./weights.ts";

/** Maximum terms that are scored, the rarest first. */
const MAX_TERMS = 64;

/** A term with its data from the index. */
export interface WeightedTerm {
  readonly term: QueryTerm;
  /** The highest possible value of the term's own word. */
  readonly most: number;
  /** The term's own word and its alternatives, as far as a method has them. */
  readonly words: readonly WeightedWord[];
}

export interface WeightedWord {
  readonly stem: string;
  /** Value at full impact. */
  readonly worth: number;
  /** Postings of the index. */
  readonly postings: readonly number[];
  /** Postings observed from the caller; they outweigh those of the same documents in `postings`. */
  readonly observed: readonly number[];
}

/** Weights the terms by rarity, the most valuable first; terms that no method has come last. */
export function weightTerms(
  terms: readonly QueryTerm[],
  index: SearchedWords,
  observedPostings: ObservedPostings,
): readonly WeightedTerm[] {
  const { size } = index;
  const common = Math.max(MIN_COMMON, size * COMMON_SHARE);
  const all = terms.map((term): WeightedTerm => {
    const postings = index.postings(term.stem);
    const observed = observedPostings(term.stem);
    const own = Math.max(postings.length, observed.length);
    const most = term.weight * getRarity(own, size);
    const words: WeightedWord[] = own === 0 ? [] : [{ stem: term.stem, worth: most, postings, observed }];
    for (const { stem, share } of term.alternatives) {
      const others = index.postings(stem);
      if (others.length === 0 || others.length > common) continue;
      words.push({ stem, worth: term.weight * share * getRarity(others.length, size), postings: others, observed: [] });
    }
    return { term, words, most };
  });
  const indexed = all.filter(({ words }) => words.length > 0).sort((a, b) => b.most - a.most);
  return [...indexed.slice(0, MAX_TERMS), ...all.filter(({ words }) => words.length === 0)];
}

/** When this many documents have a score, later and more common words add no further documents. */
const ENOUGH_DOCUMENTS = 2_048;

/** Buffers with some numbers per document, reused for every query. */
interface Scratch {
  readonly scores: Float32Array;
  /** The best value of the current term for each document; all zero between terms. */
  readonly best: Float32Array;
  /** The documents with a score; `count` is their number. */
  readonly scored: Uint32Array;
  count: number;
}

/** Valid until the next query. */
export interface Scores {
  /** By document. */
  readonly scores: Float32Array;
  /** The documents with a score. */
  readonly scored: Uint32Array;
}

const SCRATCH = new WeakMap<MethodIndex, Scratch>();

/** Computes the score of each visible document over all terms, the rarest first. The best word of each term counts. */
export function computeScores(terms: readonly WeightedTerm[], { index, visible }: VisibleIndex): Scores {
  const scratch = getScratch(index);
  // Drops documents that match only stop words, such as the `a` of `knit a sweater`.
  const byMeaning = [...terms.filter(({ term }) => isIntended(term)), ...terms.filter(({ term }) => !isIntended(term))];
  for (const { term, words } of byMeaning) {
    const addable = scratch.count < ENOUGH_DOCUMENTS && isIntended(term) ? visible : NOTHING;
    const lists = words.flatMap(({ worth, postings, observed }) => [
      { postings, worth: worth / 255 },
      ...(observed.length > 0 ? [{ postings: observed, worth: worth / 255 }] : []),
    ]);
    const [only] = lists;
    if (only !== undefined && lists.length === 1) addAll(only.postings, only.worth, addable, scratch);
    else {
      for (const { postings, worth } of lists) addBetter(postings, worth, addable, scratch);
      for (const { postings } of lists) clear(postings, scratch.best);
    }
  }
  return { scores: scratch.scores, scored: scratch.scored.subarray(0, scratch.count) };
}

const NOTHING = new Uint8Array(0);

/** Adds the values of postings. A document without a score gets one only if it is in `addable`. */
function addAll(postings: readonly number[], worth: number, addable: Uint8Array, scratch: Scratch): void {
  const { scores, scored } = scratch;
  for (let at = 0; at < postings.length; at++) {
    const posting = postings[at] ?? 0;
    const document = posting >>> 8;
    const before = scores[document] ?? 0;
    if (before === 0) {
      if (addable[document] !== 1) continue;
      scored[scratch.count++] = document;
    }
    scores[document] = before + (posting & 255) * worth;
  }
}

/** Adds the amount by which each posting exceeds the best value of the term so far. */
function addBetter(postings: readonly number[], worth: number, addable: Uint8Array, scratch: Scratch): void {
  const { scores, best, scored } = scratch;
  for (let at = 0; at < postings.length; at++) {
    const posting = postings[at] ?? 0;
    const document = posting >>> 8;
    const value = (posting & 255) * worth;
    const bar = best[document] ?? 0;
    if (value <= bar) continue;
    const before = scores[document] ?? 0;
    if (before === 0) {
      if (addable[document] !== 1) continue;
      scored[scratch.count++] = document;
    }
    best[document] = value;
    scores[document] = before + value - bar;
  }
}

function clear(postings: readonly number[], best: Float32Array): void {
  for (let at = 0; at < postings.length; at++) best[(postings[at] ?? 0) >>> 8] = 0;
}

/** Returns the buffers of an index, cleared. */
function getScratch(index: MethodIndex): Scratch {
  const size = index.methods.length;
  const cached = SCRATCH.get(index);
  if (cached !== undefined && cached.scores.length >= size) {
    cached.scores.fill(0, 0, size);
    cached.count = 0;
    return cached;
  }
  const capacity = Math.ceil(size * 1.25);
  const numbers = {
    scores: new Float32Array(capacity),
    best: new Float32Array(capacity),
    scored: new Uint32Array(capacity),
  };
  const scratch = { ...numbers, count: 0 };
  SCRATCH.set(index, scratch);
  return scratch;
}
