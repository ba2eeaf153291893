import { findPermissionFlaw } from "../../../keys/index.ts";
import type { Catalog, Method } from "../../../model/catalog.ts";
import { createPathMatcher } from "../../../model/permissions.ts";
import { parseKey } from "../../../policy/index.ts";
import type { Endpoints } from "../endpoints.ts";
import type { PatternMatches } from "../messages.ts";
import { invalidRequest } from "../problem.ts";

const MAX_TEXT_UNITS = 2_000;
const MAX_PATTERNS = 30;
const MAX_NAMED = 5;
const MAX_CANDIDATES = 20;

/** Says which methods patterns match, before a key or a row of the policy has them. Only methods that the caller may see count. */
export function createPatternEndpoints(): Endpoints {
  return {
    "GET /patterns": ({ c, view }): PatternMatches => {
      const { text = "", kind = "permission" } = c.req.query();
      if (text.length > MAX_TEXT_UNITS) throw invalidRequest(`text must have at most ${MAX_TEXT_UNITS} characters`);
      const patterns = text.split(/[\s,]+/).filter((word) => word !== "");
      if (patterns.length > MAX_PATTERNS) throw invalidRequest(`text must have at most ${MAX_PATTERNS} patterns`);
      const matches = kind === "row" ? matchRows(patterns, view.catalog) : matchPermissions(patterns, view.catalog);
      return { ...matches, candidates: listCandidates(text, view.catalog) };
    },
  };
}

type Matches = Omit<PatternMatches, "candidates">;

function matchPermissions(patterns: readonly string[], { methods }: Catalog): Matches {
  const flaw = findPermissionFlaw(patterns.map((pattern) => `call:${pattern}`));
  const tests = patterns.map((pattern) => {
    const matches = createPathMatcher(pattern);
    return ({ path }: Method): boolean => matches(path);
  });
  return { ...summarize(patterns, tests, methods), problem: flaw ?? null };
}

function matchRows(patterns: readonly string[], { methods }: Catalog): Matches {
  const keys = patterns.map(parseKey);
  const wrong = patterns.find((_, at) => keys[at] === undefined);
  const tests = keys.map(
    (key) =>
      (method: Method): boolean =>
        key?.match(method) !== undefined,
  );
  const problem =
    wrong === undefined ? null : `${wrong} is not the key of a row. Write Skill.method, Skill.* or a name`;
  return { ...summarize(patterns, tests, methods), problem };
}

function summarize(
  patterns: readonly string[],
  tests: readonly ((method: Method) => boolean)[],
  methods: readonly Method[],
): Omit<Matches, "problem"> {
  const found = methods.filter((method) => tests.some((test) => test(method)));
  const unmatched = patterns.filter((_, at) => !found.some((method) => tests[at]?.(method) === true));
  return { methods: found.length, first: found.slice(0, MAX_NAMED).map(({ path }) => path), unmatched };
}

/** Completes the last word of a text: patterns of skills first, then methods. Each candidate is the whole text. */
function listCandidates(text: string, { methods, skills }: Catalog): readonly string[] {
  const word = /[^\s,]*$/.exec(text)?.[0] ?? "";
  if (word === "") return [];
  const before = text.slice(0, text.length - word.length);
  const lower = word.toLowerCase();
  const all = [...skills.map(({ name }) => `${name}.*`), ...methods.map(({ path }) => path)];
  const found = all.filter((each) => each !== word && each.toLowerCase().includes(lower));
  return found.slice(0, MAX_CANDIDATES).map((each) => before + each);
}
