import type { Catalog, Method } from "../../model/catalog.ts";
import { suggestNames } from "../../shared/suggest.ts";
import { getPartExample } from "../description/part.ts";
import { firstSentence } from "../token-count.ts";
import {
  type FormatOptions,
  formatAnswer,
  type FoundMethod,
  type SearchedPart,
  type SearchFindings,
} from "./format-answer.ts";
import { type ObservedWords, observedPostings, NOTHING_OBSERVED } from "./observed-words.ts";
import { hasDevices, mergeDevices } from "./merge-devices.ts";
import { parseQuery, type Query } from "./query.ts";
import { type Hit, type PageRange, rank } from "./rank.ts";
import { getIndex, type VisibleIndex } from "./shared-index.ts";
import { DOUBTFUL_SCORE, DOUBTFUL_SCORE_OF_SHORT, MAX_SHORT_QUERY_WORDS } from "./weights.ts";

export { observableStems } from "./query.ts";
export { MAX_SAVED_MEANINGS } from "./weights.ts";
export type { ObservedMethod, ObservedWords } from "./observed-words.ts";
export { indexSlice, indexUntil, isIndexed, shareIndex, shareIndexWithView } from "./shared-index.ts";

const DEFAULT_LIMIT = 8;
const MAX_RESULTS = 100;

/** Best hits among which those of one method on several devices are merged. */
const MERGED_HITS = 500;

/** Maximum skill names, and method names, that are compared with a query that found nothing. */
const COMPARED_NAMES = 1_000;

export interface SearchOptions extends FormatOptions {
  /** At most this many results; 8 if not given. */
  readonly limit?: number;
  /** Number of best results to skip; 0 if not given. */
  readonly offset?: number;
  /** Words observed from the caller's own use. */
  readonly words?: ObservedWords;
  /** Time, on the clock of `performance.now`, at which a search stops indexing; without end if not given. */
  readonly deadline?: number;
}

export interface SearchResult {
  /** `Skill.method`, or a part of one: `Skill.query:issues`. */
  readonly path: string;
  readonly signature: string;
  /** A whole call that contains it, for a part of a method. */
  readonly example?: string;
  /** The first sentence of the description. */
  readonly summary: string;
  /** Share of the query that the method covers, from 0 to 1. */
  readonly score: number;
  /** The replacement of a deprecated method; absent if it is not deprecated. */
  readonly deprecated?: string;
  /** The devices that have the method, if the result stands for all of them. */
  readonly devices?: readonly string[];
}

export interface SearchAnswer {
  readonly results: readonly SearchResult[];
  /** The part of the catalog that was searched; absent if all of it was. */
  readonly searched?: SearchedPart;
  /** The results as text for a model. */
  readonly text: string;
}

/**
 * Finds the methods of a catalog that match a query, best first. Exact names come first; an empty query
 * lists all. Methods outside the catalog are neither found nor named. If the deadline passes before all methods are indexed,
 * the answer comes from those that are, and says so; the next search continues from there.
 */
export function search(catalog: Catalog, query: string, options: SearchOptions = {}): SearchAnswer {
  const page = { offset: boundedOffset(options.offset), limit: boundedLimit(options.limit) };
  const found = query.trim() === "" ? listAll(catalog, page) : findMatches(catalog, query, page, options);
  return {
    results: found.hits.map(toResult),
    ...(found.searched !== undefined && { searched: found.searched }),
    text: formatAnswer(found, catalog, options),
  };
}

function boundedLimit(limit = DEFAULT_LIMIT): number {
  return Number.isNaN(limit) ? DEFAULT_LIMIT : Math.min(Math.max(1, Math.floor(limit)), MAX_RESULTS);
}

function boundedOffset(offset = 0): number {
  return Number.isNaN(offset) ? 0 : Math.min(Math.max(0, Math.floor(offset)), Number.MAX_SAFE_INTEGER);
}

function listAll(catalog: Catalog, { offset, limit }: PageRange): SearchFindings {
  const toFound = (method: Method): FoundMethod => foundMethod(method, 0, []);
  const end = offset + limit;
  const { hits, total } = hasDevices(catalog)
    ? cutPage(mergeDevices(catalog.entries.map(toFound), catalog), { offset, limit })
    : { hits: catalog.entries.slice(offset, end).map(toFound), total: catalog.entries.length };
  return { hits, offset, total, unmatched: [], isDoubtful: false, nearest: [] };
}

function findMatches(
  catalog: Catalog,
  text: string,
  page: PageRange,
  { words = NOTHING_OBSERVED, deadline = Infinity }: SearchOptions,
): SearchFindings {
  const query = parseQuery(text);
  const visible = getIndex(catalog, deadline);
  const { index } = visible;
  const isMerged = hasDevices(catalog);
  const ranked = isMerged ? { offset: 0, limit: Math.max(MERGED_HITS, page.offset + page.limit) } : page;
  const ranking = rank(query, visible, observedPostings(words, catalog, index), ranked);
  const { best, unmatched } = ranking;
  const found = ranking.hits.flatMap(({ document, score, parts }) => {
    const method = index.methods[document];
    return method === undefined ? [] : [foundMethod(method, score, parts)];
  });
  const merged = isMerged ? cutPage(mergeDevices(found, catalog), page) : { hits: found, total: found.length };
  const total = ranking.total - found.length + merged.total;
  return {
    hits: merged.hits,
    offset: page.offset,
    total,
    unmatched,
    isDoubtful: isDoubtful(query, best, unmatched, ranking.hits[0]?.parts.length ?? 0),
    nearest: total === 0 ? nearestNames(query.folded, catalog, visible) : [],
    ...searchedPart(visible, catalog),
  };
}

function cutPage(
  hits: readonly FoundMethod[],
  { offset, limit }: PageRange,
): { readonly hits: readonly FoundMethod[]; readonly total: number } {
  return { hits: hits.slice(offset, offset + limit), total: hits.length };
}

function searchedPart({ indexedMethods }: VisibleIndex, { entries }: Catalog): Pick<SearchFindings, "searched"> {
  const isPart = indexedMethods !== undefined && indexedMethods < entries.length;
  return isPart ? { searched: { methods: indexedMethods, of: entries.length } } : {};
}

/**
 * True if the best method covers too little of a query, or none has the thing that a short query asks for. A method with twice as
 * many words of a short query as no method has fits: `matched` is the number of its words.
 */
function isDoubtful(
  { wordCount, thing, names }: Query,
  best: number,
  unmatched: readonly string[],
  matched: number,
): boolean {
  if (wordCount <= MAX_SHORT_QUERY_WORDS && matched >= 2 && matched >= 2 * unmatched.length) return false;
  if (wordCount > MAX_SHORT_QUERY_WORDS) return best < DOUBTFUL_SCORE;
  const lacksThing = names.length > 0 && best < 1 && thing !== undefined && unmatched.includes(thing);
  return best < DOUBTFUL_SCORE_OF_SHORT || lacksThing;
}

function foundMethod(method: Method, score: number, parts: Hit["parts"]): FoundMethod {
  return { method, summary: firstSentence(method.description), score: Math.round(score * 1_000) / 1_000, parts };
}

/** Computes the signature lazily: most answers show it for the first results only. */
function toResult({ method, summary, score, devices }: FoundMethod): SearchResult {
  const { deprecated } = method.metadata;
  return {
    path: method.path,
    get signature() {
      return method.signature;
    },
    summary,
    score,
    ...(method.definition.partOf !== undefined && { example: getPartExample(method) }),
    ...(deprecated !== false && { deprecated }),
    ...(devices !== undefined && { devices }),
  };
}

/** Suggests skills, and methods whose names begin like the query. */
function nearestNames(folded: string, { skills }: Catalog, { index, visible }: VisibleIndex): readonly string[] {
  const skillNames = skills.slice(0, COMPARED_NAMES).map(({ name }) => name);
  const paths = index
    .namesBeginningLike(folded)
    .slice(0, COMPARED_NAMES)
    .flatMap((name) => {
      const document = index.documentsNamed(name).find((each) => visible[each] === 1);
      return document === undefined ? [] : [index.methods[document]?.path ?? ""];
    });
  return suggestNames(folded, [...skillNames, ...paths]);
}
