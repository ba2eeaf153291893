import type { LearnedPostings } from "./learned.ts";
import type { MethodIndex } from "./method-index.ts";
import { isSignificant, type Query } from "./query.ts";
import { withSpellingGuesses } from "./spelling.ts";
import { selectTopDocuments } from "./top-k.ts";
import { computeScores, weightTerms, type WeightedTerm } from "./score.ts";
import { createMethodScorer } from "./score-methods.ts";
import type { VisibleIndex } from "./shared-index.ts";

/** Documents that are looked at more closely. */
const CLOSER = 40;

/** Places that are given one by one. */
const ORDERED = 20;

/** The tier of methods whose name the query has. */
const EXACT = 3;

/** What is left of a method's score for each better one of the same name: seven copies of one answer are one answer. */
const SAME_NAME = 0.7;

/** In a query of several sentences: how much of an idea is settled by a method that answers it best. */
const SETTLED = 0.4;

/** Queries of up to this many words may be the beginning of a name. */
const NAME_WORDS = 4;

/** Methods that are looked at because of one name. */
const MAX_NAMED = 100;

/** Longest name of a skill that is looked for in a path. */
const SKILL_NAME_UNITS = 64;

export interface Hit {
  readonly document: number;
  /** From 0 to 1: how much of what the query asks for the method has; 1 for an exact name. */
  readonly score: number;
  /** What each word of the query gave, the most first. */
  readonly parts: readonly { readonly word: string; readonly share: number }[];
}

/** Which of the results are wanted. */
export interface Page {
  readonly offset: number;
  readonly limit: number;
}

export interface Ranking {
  readonly hits: readonly Hit[];
  /** How many documents answer the query, and the score of the best. */
  readonly total: number;
  readonly best: number;
  /** Words of the query that no visible method has. */
  readonly unmatched: readonly string[];
}

interface Candidate {
  readonly document: number;
  /** 3: the query is its name; 2: its skill's name; 1: the beginning of its name. */
  readonly tier: number;
  /** What each idea gives, times what the name adds. */
  readonly values: readonly number[];
  readonly sum: number;
  /** The name by which copies of one method are known. */
  readonly name: string;
}

/** One page of the visible documents that answer a query, best first. */
export function rank(query: Query, catalogIndex: VisibleIndex, learnedPostings: LearnedPostings, page: Page): Ranking {
  const { index, visible } = catalogIndex;
  const terms = weightTerms(withSpellingGuesses(query.terms, index, learnedPostings), index, learnedPostings);
  const tiers = assignTiers(query, index, visible);
  const { scores, scored } = computeScores(terms, catalogIndex);
  const end = page.offset + page.limit;
  const best = selectTopDocuments(scored, scores, Math.max(end, CLOSER));
  const scoreMethod = createMethodScorer(terms, index);
  const candidateOf = (document: number): Candidate => {
    const values = scoreMethod(document);
    const name = (index.methods[document]?.name ?? "").replace(/_\d+$/, "").toLowerCase();
    return { document, tier: tiers.get(document) ?? 0, values, sum: sumValues(values), name };
  };
  const closer = [...new Set([...tiers.keys(), ...best.slice(0, CLOSER)])].map(candidateOf);
  const ordered = inOrder(closer, query.sentences > 1 ? SETTLED : 0);
  const others = best.slice(CLOSER).filter((document) => !tiers.has(document));
  const most = terms.reduce((sum, term) => sum + (term.term.word === "" ? 0 : term.most), 0) || 1;
  const hits = [
    ...ordered.slice(page.offset, end),
    ...others.slice(Math.max(0, page.offset - ordered.length), Math.max(0, end - ordered.length)).map(candidateOf),
  ].map((candidate) => createHit(candidate, terms, most));
  const [first] = ordered;
  return {
    hits,
    total: scored.length + [...tiers.keys()].filter((document) => scores[document] === 0).length,
    best: first === undefined ? 0 : createHit(first, terms, most).score,
    unmatched: unmatchedWords(terms, closer, visible),
  };
}

/** Documents whose name, or the beginning of it, is in the query, whatever else it says. */
function assignTiers(query: Query, index: MethodIndex, visible: Uint8Array): Map<number, number> {
  const tiers = new Map<number, number>();
  const put = (documents: readonly number[], tier: number): void => {
    let room = MAX_NAMED;
    for (const document of documents) {
      if (visible[document] !== 1) continue;
      tiers.set(document, Math.max(tier, tiers.get(document) ?? 0));
      if (--room === 0) return;
    }
  };
  for (const name of query.names) put(findDocumentsNamed(name, index), EXACT);
  put(findSkillDocuments(query.folded, index), 2);
  if (query.wordCount <= NAME_WORDS && query.folded.length > 2) put(index.namedFrom(query.folded), 1);
  return tiers;
}

/** By method name, or by path: a skill's name followed by that of a method. */
function findDocumentsNamed(folded: string, index: MethodIndex): readonly number[] {
  const lengths = Array.from({ length: Math.min(folded.length, SKILL_NAME_UNITS) }, (_, at) => at + 1);
  const byPath = lengths.flatMap((length) => {
    const skills = index.skillsNamed(folded.slice(0, length));
    const own = skills.map((skill) => index.getDocuments(skill)).filter((documents) => documents !== undefined);
    if (own.length === 0) return [];
    const named = index.named(folded.slice(length));
    return named.filter((document) => own.some(({ from, to }) => document >= from && document < to));
  });
  return [...index.named(folded), ...byPath];
}

function findSkillDocuments(folded: string, index: MethodIndex): readonly number[] {
  return index.skillsNamed(folded).flatMap((skill) => {
    const { from, to } = index.getDocuments(skill) ?? { from: 0, to: 0 };
    return Array.from({ length: to - from }, (_, at) => from + at);
  });
}

/**
 * Best first, the first of them one by one: what the ones before have settled, and names that were there before, count
 * less.
 */
function inOrder(candidates: readonly Candidate[], settled: number): readonly Candidate[] {
  const sorted = candidates.toSorted((a, b) => b.tier - a.tier || b.sum - a.sum);
  const open = sorted.slice(0, CLOSER);
  const left = (open[0]?.values ?? []).map(() => 1);
  const names = new Map<string, number>();
  const ordered: Candidate[] = [];
  while (open.length > 0 && ordered.length < ORDERED) {
    const [next] = open.splice(findBestIndex(open, left, names), 1);
    if (next === undefined) break;
    ordered.push(next);
    names.set(next.name, (names.get(next.name) ?? 0) + 1);
    settleTies(next.values, left, settled);
  }
  return [...ordered, ...open, ...sorted.slice(CLOSER)];
}

function findBestIndex(
  open: readonly Candidate[],
  left: readonly number[],
  names: ReadonlyMap<string, number>,
): number {
  const tier = open[0]?.tier ?? 0;
  let place = 0;
  let most = -1;
  for (let at = 0; at < open.length; at++) {
    const candidate = open[at];
    // They come by their sums, and nothing adds to those: whoever is behind one that cannot win cannot win either.
    if (candidate === undefined || candidate.tier < tier || candidate.sum <= most) break;
    const value = valueLeft(candidate.values, left) * SAME_NAME ** (names.get(candidate.name) ?? 0);
    if (value > most) [place, most] = [at, value];
  }
  return place;
}

function valueLeft(values: readonly number[], left: readonly number[]): number {
  let sum = 0;
  for (let term = 0; term < values.length; term++) sum += (values[term] ?? 0) * (left[term] ?? 1);
  return sum;
}

function settleTies(values: readonly number[], left: number[], settled: number): void {
  const most = Math.max(...values);
  if (settled === 0 || most <= 0) return;
  for (const [term, value] of values.entries()) left[term] = (left[term] ?? 1) * (1 - (settled * value) / most);
}

function sumValues(values: readonly number[]): number {
  let sum = 0;
  for (let at = 0; at < values.length; at++) sum += values[at] ?? 0;
  return sum;
}

function createHit({ document, tier, values, sum }: Candidate, terms: readonly WeightedTerm[], most: number): Hit {
  const parts = terms.map(({ term }, at) => ({ word: term.word || term.stem, share: (values[at] ?? 0) / most }));
  return {
    document,
    score: tier === EXACT ? 1 : Math.min(1, sum / most),
    parts: parts.filter(({ share }) => share > 0).sort((a, b) => b.share - a.share),
  };
}

/** Most words are in one of the best documents; only for the others their lists are gone through. */
function unmatchedWords(
  terms: readonly WeightedTerm[],
  candidates: readonly Candidate[],
  visible: Uint8Array,
): readonly string[] {
  const isSeen = (postings: readonly number[]): boolean => postings.some((posting) => visible[posting >>> 8] === 1);
  const isFound = ({ words }: WeightedTerm, at: number): boolean =>
    candidates.some(({ values }) => (values[at] ?? 0) > 0) ||
    words.some(({ postings, learned }) => isSeen(postings) || isSeen(learned));
  return terms.filter((each, at) => isSignificant(each.term) && !isFound(each, at)).map(({ term }) => term.word);
}
