import type { ObservedPostings } from "./observed-words.ts";
import type { MethodIndex } from "./method-index.ts";
import { type Candidate, CLOSER, orderCandidates } from "./order-candidates.ts";
import { isSignificant, type Query } from "./query.ts";
import { withSpellingGuesses } from "./spelling.ts";
import { selectTopDocuments } from "./top-k.ts";
import { computeScores, weightTerms, type WeightedTerm } from "./score.ts";
import { createMethodScorer } from "./score-methods.ts";
import type { VisibleIndex } from "./shared-index.ts";
import { BEGINNING_TIER, EXACT_TIER, SKILL_TIER } from "./weights.ts";

/** Queries of up to this many words may be a prefix of a name. */
const NAME_WORDS = 4;

/** Maximum methods considered for one name. */
const MAX_NAMED = 100;

/** Maximum length of a skill name that is looked for in a path. */
const SKILL_NAME_UNITS = 64;

export interface Hit {
  readonly document: number;
  /** Share of the query that the method covers, from 0 to 1; 1 for an exact name. */
  readonly score: number;
  /** The share of each query word, the largest first. */
  readonly parts: readonly { readonly word: string; readonly share: number }[];
}

/** The requested range of results. */
export interface PageRange {
  readonly offset: number;
  readonly limit: number;
}

export interface Ranking {
  readonly hits: readonly Hit[];
  /** Number of matching documents, and the score of the best. */
  readonly total: number;
  readonly best: number;
  /** Words of the query that no visible method has. */
  readonly unmatched: readonly string[];
}

/** Returns one page of the visible documents that match a query, best first. */
export function rank(
  query: Query,
  catalogIndex: VisibleIndex,
  observedPostings: ObservedPostings,
  page: PageRange,
): Ranking {
  const { index, visible, words } = catalogIndex;
  const terms = weightTerms(withSpellingGuesses(query.terms, words, observedPostings), words, observedPostings);
  const tiers = assignTiers(query, index, visible);
  const { scores, scored } = computeScores(terms, catalogIndex);
  const end = page.offset + page.limit;
  const best = selectTopDocuments(scored, scores, Math.max(end, CLOSER));
  const scoreMethod = createMethodScorer(terms, index, query.words);
  const toCandidate = (document: number): Candidate => {
    const values = scoreMethod(document);
    let name: string | undefined;
    return {
      document,
      tier: tiers.get(document) ?? 0,
      values,
      sum: sumValues(values),
      // Few candidates are compared by their names, but those often.
      get name() {
        return (name ??= (index.methods[document]?.name ?? "").replace(/_\d+$/, "").toLowerCase());
      },
    };
  };
  const closer = [...new Set([...tiers.keys(), ...best.slice(0, CLOSER)])].map(toCandidate);
  const ordered = orderCandidates(closer, terms, end);
  const others = best.slice(CLOSER).filter((document) => !tiers.has(document));
  const most = terms.reduce((sum, term) => sum + (term.term.word === "" ? 0 : term.most), 0) || 1;
  const hits = [
    ...ordered.slice(page.offset, end),
    ...others.slice(Math.max(0, page.offset - ordered.length), Math.max(0, end - ordered.length)).map(toCandidate),
  ].map((candidate) => createHit(candidate, terms, most));
  const [first] = ordered;
  return {
    hits,
    total: scored.length + [...tiers.keys()].filter((document) => scores[document] === 0).length,
    best: first === undefined ? 0 : createHit(first, terms, most).score,
    unmatched: unmatchedWords(terms, closer, visible),
  };
}

/** Finds documents whose name, or its prefix, is in the query, regardless of the other words. */
function assignTiers(query: Query, index: MethodIndex, visible: Uint8Array): Map<number, number> {
  const tiers = new Map<number, number>();
  const put = (documents: readonly number[], tier: number): void => {
    let remaining = MAX_NAMED;
    for (const document of documents) {
      if (visible[document] !== 1) continue;
      tiers.set(document, Math.max(tier, tiers.get(document) ?? 0));
      if (--remaining === 0) return;
    }
  };
  for (const name of query.names) put(findDocumentsNamed(name, index), EXACT_TIER);
  put(findSkillDocuments(query.folded, index), SKILL_TIER);
  if (query.wordCount <= NAME_WORDS && query.folded.length > 2) put(index.namedFrom(query.folded), BEGINNING_TIER);
  return tiers;
}

/** Finds documents by method name or by path: the name of a skill followed by that of a method. */
function findDocumentsNamed(folded: string, index: MethodIndex): readonly number[] {
  const lengths = Array.from({ length: Math.min(folded.length, SKILL_NAME_UNITS) }, (_, at) => at + 1);
  const byPath = lengths.flatMap((length) => {
    const skills = index.skillsNamed(folded.slice(0, length));
    const own = skills.map((skill) => index.getDocuments(skill)).filter((documents) => documents !== undefined);
    if (own.length === 0) return [];
    const documents = index.documentsNamed(folded.slice(length));
    return documents.filter((document) => own.some(({ from, to }) => document >= from && document < to));
  });
  return [...index.documentsNamed(folded), ...byPath];
}

function findSkillDocuments(folded: string, index: MethodIndex): readonly number[] {
  return index.skillsNamed(folded).flatMap((skill) => {
    const { from, to } = index.getDocuments(skill) ?? { from: 0, to: 0 };
    return Array.from({ length: to - from }, (_, at) => from + at);
  });
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
    score: tier === EXACT_TIER ? 1 : Math.min(1, sum / most),
    parts: parts.filter(({ share }) => share > 0).sort((a, b) => b.share - a.share),
  };
}

/** Finds words without a match. Most words are in one of the best documents; postings are read only for the others. */
function unmatchedWords(
  terms: readonly WeightedTerm[],
  candidates: readonly Candidate[],
  visible: Uint8Array,
): readonly string[] {
  const isSeen = (postings: readonly number[]): boolean => postings.some((posting) => visible[posting >>> 8] === 1);
  const isFound = ({ words }: WeightedTerm, at: number): boolean =>
    candidates.some(({ values }) => (values[at] ?? 0) > 0) ||
    words.some(({ postings, observed }) => isSeen(postings) || isSeen(observed));
  return terms.filter((each, at) => isSignificant(each.term) && !isFound(each, at)).map(({ term }) => term.word);
}
