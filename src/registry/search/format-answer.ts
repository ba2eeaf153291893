import type { Catalog, Method } from "../../model/catalog.ts";
import { type FindInferredOutput, formatGuess, NO_INFERRED_OUTPUTS } from "../declarations/inferred-output.ts";
import { briefSignature } from "../declarations/signature.ts";
import { getPartExample } from "../description/part.ts";
import { toType } from "../declarations/types.ts";
import { shortened, estimateTokens } from "../token-count.ts";
import { formatList } from "../../shared/format-text.ts";
import { didYouMean } from "../../shared/suggest.ts";
import { listOwnWords } from "../own-words.ts";
import type { Hit } from "./rank.ts";

/** Default maximum length of an answer, in tokens. */
const DEFAULT_TOKENS = 700;

/** This many results show their signature. */
const WITH_SIGNATURE = 3;

/** Maximum length of the parameters of a signature, of its result, and of a sentence, in full and in brief. */
const SIGNATURE_UNITS = 200;
const RESULT_UNITS = 420;
const SENTENCE_UNITS = 160;
const BRIEF_SENTENCE_UNITS = 90;

/** Maximum names or words in a list. */
const LISTED = 12;

/** Maximum methods whose categories are read: an answer must be quick. */
const READ_METHODS = 2_000;

export interface FormatOptions {
  /** Approximate maximum length of the text; the last results lose detail first. */
  readonly maxTokens?: number;
  /** Include the scores and the share of each word in the text. */
  readonly explain?: boolean;
  /** Finds the types of results that were observed. */
  readonly observed?: FindInferredOutput;
}

/** The results of a search and the remarks on them. */
export interface SearchFindings {
  readonly hits: readonly FoundMethod[];
  /** Number of better results before `hits`. */
  readonly offset: number;
  /** Number of results in all. */
  readonly total: number;
  /** Words of the query without a match. */
  readonly unmatched: readonly string[];
  readonly isDoubtful: boolean;
  /** Names similar to the query, if nothing was found. */
  readonly nearest: readonly string[];
  /** The part of the catalog that was searched; absent if all of it was. */
  readonly searched?: SearchedPart;
}

/** The number of searched methods, and of all methods that the caller may read. */
export interface SearchedPart {
  readonly methods: number;
  readonly of: number;
}

export interface FoundMethod {
  readonly method: Method;
  readonly summary: string;
  readonly score: number;
  readonly parts: Hit["parts"];
  /** The devices that have the method, if it stands for all of them. */
  readonly devices?: readonly string[];
}

/** The level of detail of a result. */
type Detail = "signature" | "sentence" | "path";

/** Formats the answer to a search for a model: short, and explicit about words without a match. */
export function formatAnswer(
  found: SearchFindings,
  catalog: Catalog,
  { maxTokens = DEFAULT_TOKENS, explain = false, observed = NO_INFERRED_OUTPUTS }: FormatOptions,
): string {
  if (found.total === 0) return nothingFound(found, catalog);
  if (found.hits.length === 0) return `Found ${found.total} result(s), but offset ${found.offset} is past the last one`;
  const remarks = formatRemarks(found, catalog);
  const budget = maxTokens - estimateTokens(remarks.join("\n")) - estimateTokens(heading(found));
  const lines = linesWithin(budget, found, { explain, observed });
  return [heading(found), ...lines, ...restAfter(found.offset + lines.length, found.total), ...remarks].join("\n");
}

function heading({ offset, total }: SearchFindings): string {
  return `Found ${total} result(s)${offset > 0 ? `, starting with number ${offset + 1}` : ""}:`;
}

/** Tells how to get the remaining results: the text may show fewer than the limit allows. */
function restAfter(end: number, total: number): readonly string[] {
  return end < total ? [`... and ${total - end} more: search again with offset ${end}`] : [];
}

/** The order in which detail is dropped, each time from the last result to the first. */
const REDUCTIONS: readonly { readonly from: Detail; readonly to: Detail }[] = [
  { from: "sentence", to: "path" },
  { from: "signature", to: "sentence" },
  { from: "sentence", to: "path" },
];

/** Formats the lines in as much detail as fits; drops lines that do not fit at all. */
function linesWithin(budget: number, found: SearchFindings, options: LineOptions): readonly string[] {
  const first: Detail = found.isDoubtful ? "path" : "signature";
  const others: Detail = found.isDoubtful ? "path" : "sentence";
  const details = found.hits.map((_, at) => (at < WITH_SIGNATURE ? first : others));
  const lines = found.hits.map((hit, at) => formatLine(hit, details[at] ?? "path", options));
  let remaining = budget - estimateTokens(lines.join("\n"));
  for (const { from, to } of REDUCTIONS) {
    for (const [at, hit] of [...found.hits.entries()].toReversed()) {
      if (remaining >= 0 || details[at] !== from) continue;
      details[at] = to;
      lines[at] = formatLine(hit, to, options);
      remaining = budget - estimateTokens(lines.join("\n"));
    }
  }
  while (lines.length > 1 && estimateTokens(lines.join("\n")) > budget) lines.pop();
  return lines;
}

type LineOptions = Required<Pick<FormatOptions, "explain" | "observed">>;

function formatLine(hit: FoundMethod, detail: Detail, { explain, observed }: LineOptions): string {
  const { method, summary, score, parts, devices } = hit;
  const signature = detail === "signature" ? `${method.skill}.${signatureWithResult(method, observed)}` : "";
  const example = signature !== "" && method.definition.partOf !== undefined ? getPartExample(method) : "";
  const sentence = shortened(summary, detail === "signature" ? SENTENCE_UNITS : BRIEF_SENTENCE_UNITS);
  const shares = parts.slice(0, LISTED).map(({ word, share }) => `${word} ${share.toFixed(2)}`);
  const line = [
    `- ${detail === "signature" ? signature : method.path}`,
    ...(sentence === "" || detail === "path" ? [] : [`— ${sentence}`]),
    ...(method.metadata.deprecated === false
      ? []
      : [`(deprecated: ${shortened(method.metadata.deprecated, BRIEF_SENTENCE_UNITS)})`]),
    ...(signature !== "" && method.response?.items !== undefined ? [PAGES] : []),
    ...(devices === undefined ? [] : [`(devices: ${formatList(devices, LISTED)})`]),
    ...(explain ? [`[${score.toFixed(2)}${shares.length === 0 ? "" : `: ${shares.join(", ")}`}]`] : []),
  ].join(" ");
  return example === "" ? line : `${line}\n  ${example}`;
}

const PAGES = "(one page; .pages({ … }, { items: 100 }) reads all)";

/** Formats the parameters, and the result as deeply as it fits, declared or observed. */
function signatureWithResult(method: Method, observed: FindInferredOutput): string {
  const brief = briefSignature(method, SIGNATURE_UNITS);
  if (method.definition.partOf !== undefined) return brief;
  const inferred = observed(method);
  const output = method.output ?? inferred?.schema;
  if (output === undefined) return brief;
  const end = brief.lastIndexOf("): Promise<");
  const parameters = end < 0 ? brief : brief.slice(0, end + 1);
  const at = (depth: number): string => toType(output, { root: output, depth, comments: false, of: "output" }).text;
  return `${parameters}: Promise<${findDeepest(at)}>${formatGuess(inferred)}`;
}

/** Returns the deepest text that is short enough. Deeper ones are longer, so the first that is too long is the last. */
function findDeepest(at: (depth: number) => string): string {
  let result = "";
  for (const depth of [1, 2, 3]) {
    const text = at(depth);
    if (text.length > RESULT_UNITS) break;
    result = text;
  }
  return result === "" ? at(0) : result;
}

function formatRemarks({ unmatched, isDoubtful, searched }: SearchFindings, catalog: Catalog): readonly string[] {
  const isDoubtSaid = isDoubtful && searched === undefined;
  return [
    ...(unmatched.length > 0 ? [`Words without a match: ${unmatched.slice(0, LISTED).join(", ")}`] : []),
    ...(isDoubtSaid ? [`Probably no method does this; these are only the closest names. ${SEARCH_AGAIN}`] : []),
    ...(isDoubtSaid ? formatOwnWords(catalog) : []),
    ...formatSearched(searched),
  ];
}

function formatSearched(searched: SearchedPart | undefined): readonly string[] {
  if (searched === undefined) return [];
  const [methods, of] = [searched.methods, searched.of].map((count) => count.toLocaleString("en-US"));
  return [`Searched ${methods} of ${of} methods; the index is still being built. Search again to search the others`];
}

const SEARCH_AGAIN =
  "If none fits, search again with two to four English words that a tool's author would use: a verb and a thing, one intent a search";

/** Offers the words of the catalog to a model whose own words find nothing. */
function formatOwnWords(catalog: Catalog): readonly string[] {
  const words = listOwnWords(catalog);
  return words.length === 0 ? [] : [`Words of the methods here: ${words.join(", ")}`];
}

function nothingFound({ nearest, searched }: SearchFindings, catalog: Catalog): string {
  const categories = categoryNames(catalog.methods.slice(0, READ_METHODS));
  return [
    `No results found${nearest.length > 0 ? `; ${didYouMean(nearest)}` : ""}`,
    ...(categories.length > 1 ? [`Categories: ${categories.slice(0, LISTED).join(", ")}`] : []),
    ...(categories.length <= 1 && catalog.skills.length > 0 ? [`Skills: ${skillNames(catalog)}`] : []),
    ...(catalog.skills.length > 0 ? [SEARCH_AGAIN.replace("If none fits, search", "Search")] : []),
    ...(searched === undefined ? formatOwnWords(catalog) : []),
    ...formatSearched(searched),
  ].join("\n");
}

function categoryNames(methods: readonly Method[]): readonly string[] {
  return [...new Set(methods.map((method) => method.metadata.category))].sort();
}

function skillNames({ skills }: Catalog): string {
  const names = skills.map((skill) => skill.name);
  return formatList(names, LISTED);
}
