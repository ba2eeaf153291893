import { type MethodIndex, pushToGroup } from "./method-index.ts";
import type { WeightedTerm } from "./score.ts";
import { createRequestScorer } from "./requests.ts";
import { REQUEST_WEIGHTS, WHOLE_NAME_BONUS } from "./weights.ts";

/** The last bits of a word's number rule out most words of a document that are not in the query. */
const MASK = 1_023;

/**
 * Creates a function that returns the value of each term for a document, from its words, its observed words and its request.
 * `queryWords` are all words of the query.
 */
export function createMethodScorer(
  terms: readonly WeightedTerm[],
  index: MethodIndex,
  queryWords: readonly string[],
): (document: number) => readonly number[] {
  let scoreRequest: ReturnType<typeof createRequestScorer> | undefined;
  const getRequestFactor = (document: number): number => {
    const request = index.getRequest(document);
    if (request === undefined) return 1;
    scoreRequest ??= createRequestScorer(queryWords, terms);
    const isDeprecated = index.methods[document]?.metadata.deprecated !== false;
    return scoreRequest(request) * (isDeprecated ? REQUEST_WEIGHTS.deprecated : 1);
  };
  const usesByWord = findWordUses(terms, index);
  const mask = new Uint8Array(MASK + 1);
  for (const word of usesByWord.keys()) mask[word & MASK] = 1;
  const observed = observedUses(terms);
  return (document) => {
    const values = terms.map(() => 0);
    const words = index.getWords(document);
    const nameStems = index.nameStems(document);
    let inName = 0;
    for (let at = 0; at < words.length; at++) {
      const packed = words[at] ?? 0;
      if (mask[(packed >>> 8) & MASK] === 0) continue;
      const uses = usesByWord.get(packed >>> 8);
      if (uses === undefined) continue;
      if (at < nameStems && uses.some(({ isOwn }) => isOwn)) inName += 1;
      for (const { term, worth } of uses) values[term] = Math.max(values[term] ?? 0, worth * (packed & 255));
    }
    for (const { term, worth } of observed.get(document) ?? []) values[term] = Math.max(values[term] ?? 0, worth);
    const factor = (1 + (WHOLE_NAME_BONUS * inName) / Math.max(1, nameStems)) * getRequestFactor(document);
    for (let term = 0; term < values.length; term++) values[term] = (values[term] ?? 0) * factor;
    return values;
  };
}

/** The value of an index word for one term. */
interface WordUse {
  readonly term: number;
  readonly worth: number;
  /** True for the term's own word, false for an alternative. */
  readonly isOwn: boolean;
}

function findWordUses(terms: readonly WeightedTerm[], index: MethodIndex): ReadonlyMap<number, readonly WordUse[]> {
  const uses = new Map<number, WordUse[]>();
  for (const [at, { term, words }] of terms.entries()) {
    for (const { stem, worth } of words) {
      const use = { term: at, worth: worth / 255, isOwn: stem === term.stem && term.word !== "" };
      pushToGroup(uses, index.wordNumber(stem) ?? -1, use);
    }
  }
  return uses;
}

/** Returns the values of observed words by document. */
function observedUses(terms: readonly WeightedTerm[]): ReadonlyMap<number, readonly Omit<WordUse, "isOwn">[]> {
  const uses = new Map<number, Omit<WordUse, "isOwn">[]>();
  for (const [term, { words }] of terms.entries())
    for (const { observed, worth } of words)
      for (const posting of observed)
        pushToGroup(uses, posting >>> 8, { term, worth: (worth / 255) * (posting & 255) });
  return uses;
}
