import type { Catalog } from "../../../model/catalog.ts";
import { listPatterns, matchPatterns } from "../../../policy/index.ts";
import type { Endpoints } from "../endpoints.ts";
import type { CountedPatterns } from "../messages.ts";
import { invalidRequest } from "../problem.ts";

const MAX_TEXT_UNITS = 2_000;
const MAX_PATTERNS = 30;
const MAX_CANDIDATES = 20;

/** Says which methods patterns match, before a key or a row of the policy has them. Only methods that the caller may see count. */
export function createPatternEndpoints(): Endpoints {
  return {
    "GET /patterns": ({ c, view }): CountedPatterns => {
      const { text = "", kind = "permission" } = c.req.query();
      if (text.length > MAX_TEXT_UNITS) throw invalidRequest(`text must have at most ${MAX_TEXT_UNITS} characters`);
      const patterns = text.split(/[\s,]+/).filter((word) => word !== "");
      if (patterns.length > MAX_PATTERNS) throw invalidRequest(`text must have at most ${MAX_PATTERNS} patterns`);
      const matches = matchPatterns(patterns, kind === "row" ? "row" : "permission", view.catalog);
      return { ...matches, candidates: listCandidates(text, view.catalog) };
    },
  };
}

/** Completes the last word of a text. Each candidate is the whole text. */
function listCandidates(text: string, catalog: Catalog): readonly string[] {
  const word = /[^\s,]*$/.exec(text)?.[0] ?? "";
  if (word === "") return [];
  const before = text.slice(0, text.length - word.length);
  const lower = word.toLowerCase();
  const found = listPatterns(catalog).filter((each) => each !== word && each.toLowerCase().includes(lower));
  return found.slice(0, MAX_CANDIDATES).map((each) => before + each);
}
