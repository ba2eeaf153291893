import type { Catalog, Method } from "../../model/catalog.ts";
import { nearest } from "../../model/nearest.ts";
import { firstSentence } from "../text.ts";
import { answerText } from "./answer.ts";
import { parseQuery } from "./query.ts";
import { type Hit, rank, type Ranking } from "./rank.ts";
import { indexOf } from "./shared-index.ts";
import { foldedName } from "./words.ts";

export { shareIndex, shareIndexWithView } from "./shared-index.ts";

const DEFAULT_LIMIT = 8;
const MOST_RESULTS = 100;

/** Names that are compared with a query that found nothing. */
const COMPARED_NAMES = 2_000;

/** Below this score of the best one, probably no method does what was asked. */
const DOUBTFUL = 0.25;

export interface SearchOptions {
  /** At most this many results; 8 if not given. */
  readonly limit?: number;
  /** About how long the text may be; detail is left out of the last results first. */
  readonly maxTokens?: number;
  /** With the scores, and what each word gave, in the text. */
  readonly explain?: boolean;
}

export interface SearchResult {
  /** `Skill.method` */
  readonly path: string;
  readonly signature: string;
  /** The first sentence of the description. */
  readonly summary: string;
  /** From 0 to 1: how much of the query the method covers. */
  readonly score: number;
}

export interface SearchAnswer {
  readonly results: readonly SearchResult[];
  /** The results for a model (D2). */
  readonly text: string;
}

/** What of a query's answer is said, besides the results. */
export interface Found {
  readonly hits: readonly (SearchResult & { readonly method: Method; readonly parts: Hit["parts"] })[];
  /** How many there are in all. */
  readonly total: number;
  readonly unmatched: readonly string[];
  readonly isDoubtful: boolean;
  /** Where nothing was found. */
  readonly nearest: readonly string[];
}

/**
 * Finds the methods of a catalog that do what a query asks for, best first (D1). Exact names come first; an empty query
 * lists all. What the catalog does not show is neither found nor named.
 */
export function search(catalog: Catalog, query: string, options: SearchOptions = {}): SearchAnswer {
  const limit = Math.min(Math.max(1, Math.floor(options.limit ?? DEFAULT_LIMIT)), MOST_RESULTS);
  const found = query.trim() === "" ? everything(catalog, limit) : matching(catalog, query, limit);
  return {
    results: found.hits.map(({ path, signature, summary, score }) => ({ path, signature, summary, score })),
    text: answerText(found, catalog, options),
  };
}

function everything(catalog: Catalog, limit: number): Found {
  const hits = catalog.methods.slice(0, limit).map((method) => foundMethod(method, 0, []));
  return { hits, total: catalog.methods.length, unmatched: [], isDoubtful: false, nearest: [] };
}

function matching(catalog: Catalog, text: string, limit: number): Found {
  const query = parseQuery(text);
  const { index, isVisible } = indexOf(catalog);
  const { hits, unmatched }: Ranking = rank(query, index, isVisible);
  const best = hits.slice(0, limit).flatMap(({ document, score, parts }) => {
    const method = index.methods[document];
    return method === undefined ? [] : [foundMethod(method, score, parts)];
  });
  return {
    hits: best,
    total: best.length,
    unmatched,
    isDoubtful: (best[0]?.score ?? 0) < DOUBTFUL,
    nearest: best.length === 0 ? nearestNames(query.folded, catalog) : [],
  };
}

function foundMethod(method: Method, score: number, parts: Hit["parts"]): Found["hits"][number] {
  const { path, signature } = method;
  return {
    path,
    signature,
    summary: firstSentence(method.description),
    score: Math.round(score * 1_000) / 1_000,
    method,
    parts,
  };
}

/** Of a large catalog, only names that begin like the query are compared. */
function nearestNames(folded: string, catalog: Catalog): readonly string[] {
  const names = [...catalog.skills, ...catalog.methods].map((each) => ("path" in each ? each.path : each.name));
  const own = (name: string): string => foldedName(name.slice(name.indexOf(".") + 1));
  const alike = names.length <= COMPARED_NAMES ? names : names.filter((name) => own(name)[0] === folded[0]);
  return nearest(folded, alike.slice(0, COMPARED_NAMES));
}
