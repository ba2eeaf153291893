import type { Catalog, Method } from "../../model/catalog.ts";
import { briefSignature } from "../declarations/signature.ts";
import { shortened, tokensOf } from "../text.ts";
import type { Found, SearchOptions } from "./index.ts";

/** About this long an answer may be if nobody says otherwise. */
const DEFAULT_TOKENS = 400;

/** The first results have their signature. */
const WITH_SIGNATURE = 3;

/** Longest signature and sentence of a result in full, and of one in brief. */
const SIGNATURE_UNITS = 200;
const SENTENCE_UNITS = 160;
const BRIEF_SENTENCE_UNITS = 90;

/** Names and words that are listed. */
const LISTED = 12;

/** How much is said of a result. */
type Detail = "signature" | "sentence" | "path";

/** The answer to a search as a model reads it: short, and plain about what was not found. */
export function answerText(
  found: Found,
  catalog: Catalog,
  { maxTokens = DEFAULT_TOKENS, explain = false }: SearchOptions,
): string {
  if (found.hits.length === 0) return nothingFound(found, catalog);
  const remarks = remarksOn(found);
  const room = maxTokens - tokensOf(remarks.join("\n")) - tokensOf(heading(found));
  const lines = linesWithin(room, found, explain);
  const left = found.total - lines.length;
  return [heading(found), ...lines, ...(left > 0 ? [`... and ${left} more`] : []), ...remarks].join("\n");
}

function heading(found: Found): string {
  return `Found ${found.total} result(s):`;
}

/** The lines in the most detail that fits: the last results lose theirs first, and then their lines. */
function linesWithin(room: number, found: Found, explain: boolean): readonly string[] {
  const details = found.hits.map((_, at): Detail => (at < WITH_SIGNATURE ? "signature" : "sentence"));
  const lines = found.hits.map((hit, at) => lineOf(hit, details[at] ?? "path", explain));
  let length = tokensOf(lines.join("\n"));
  for (const less of ["sentence", "path"] as const) {
    for (let at = lines.length - 1; at >= 0 && length > room; at--) {
      const hit = found.hits[at];
      if (hit === undefined || details[at] === "path" || details[at] === less) continue;
      details[at] = less;
      lines[at] = lineOf(hit, less, explain);
      length = tokensOf(lines.join("\n"));
    }
  }
  while (lines.length > 1 && tokensOf(lines.join("\n")) > room) lines.pop();
  return lines;
}

function lineOf(hit: Found["hits"][number], detail: Detail, explain: boolean): string {
  const { method, summary, score, parts } = hit;
  const signature = `${method.skill}.${briefSignature(method, SIGNATURE_UNITS)}`;
  const sentence = shortened(summary, detail === "signature" ? SENTENCE_UNITS : BRIEF_SENTENCE_UNITS);
  const shares = parts.slice(0, LISTED).map(({ word, share }) => `${word} ${share.toFixed(2)}`);
  return [
    `- ${detail === "signature" ? signature : method.path}`,
    ...(sentence === "" || detail === "path" ? [] : [`— ${sentence}`]),
    ...(method.metadata.deprecated === false
      ? []
      : [`(deprecated: ${shortened(method.metadata.deprecated, BRIEF_SENTENCE_UNITS)})`]),
    ...(explain ? [`[${score.toFixed(2)}${shares.length === 0 ? "" : `: ${shares.join(", ")}`}]`] : []),
  ].join(" ");
}

function remarksOn({ unmatched, isDoubtful, hits }: Found): readonly string[] {
  const named = unmatched.length > 0 && hits.some(({ score }) => score > 0);
  return [
    ...(named ? [`Nothing matched: ${unmatched.slice(0, LISTED).join(", ")}`] : []),
    ...(isDoubtful && named ? ["Probably no method does this; these are only the nearest"] : []),
  ];
}

function nothingFound({ nearest }: Found, catalog: Catalog): string {
  const categories = categoryNames(catalog.methods);
  return [
    "No results found",
    ...(nearest.length > 0 ? [`Nearest: ${nearest.join(", ")}`] : []),
    ...(categories.length > 1 ? [`Categories: ${categories.slice(0, LISTED).join(", ")}`] : []),
    ...(categories.length <= 1 && catalog.skills.length > 0 ? [`Skills: ${skillNames(catalog)}`] : []),
  ].join("\n");
}

function categoryNames(methods: readonly Method[]): readonly string[] {
  return [...new Set(methods.map((method) => method.metadata.category))].sort();
}

function skillNames({ skills }: Catalog): string {
  const names = skills.slice(0, LISTED).map((skill) => skill.name);
  return [...names, ...(skills.length > LISTED ? [`... and ${skills.length - LISTED} more`] : [])].join(", ");
}
