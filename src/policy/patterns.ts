import { findPermissionFlaw } from "../keys/index.ts";
import { type Catalog, listEntries, type Method } from "../model/catalog.ts";
import { createPathMatcher } from "../model/permissions.ts";
import { formatList } from "../shared/format-text.ts";
import { splitPath } from "../shared/names/method-paths.ts";
import { didYouMean, suggestNames } from "../shared/suggest.ts";
import { parseKey } from "./keys.ts";

/** Patterns of permissions, or keys of rows of the policy. */
export type PatternKind = "permission" | "row";

/** The methods that patterns match, of those in a catalog. */
export interface PatternMatches {
  readonly methods: number;
  readonly first: readonly string[];
  /** The patterns that match no method. */
  readonly unmatched: readonly string[];
  /** Why one of them is not a pattern. */
  readonly problem: string | null;
  /** All of this as a sentence: `Matches 2 methods: MathSkill.add, MathSkill.sum. No method: Mth.*; did you mean MathSkill.*?` */
  readonly text: string;
}

const MAX_NAMED = 5;

/** The most patterns for which nearest names are looked up, which compares each with every name. */
const MAX_SUGGESTED = 3;

/** Says which methods of a catalog patterns match, before a key or a row of the policy has them. */
export function matchPatterns(patterns: readonly string[], kind: PatternKind, catalog: Catalog): PatternMatches {
  const tests = patterns.map(kind === "row" ? createKeyTest : createPatternTest);
  const matched = new Set<number>();
  /** A method that no list has is not named for a pattern of all methods. */
  const find = (entries: readonly Method[], isListed: boolean): readonly Method[] =>
    entries.filter((method) => {
      const numbers = [...tests.keys()].filter((at) => isListed || patterns[at] !== "*");
      const matches = numbers.filter((at) => tests[at]?.(method) === true);
      for (const at of matches) matched.add(at);
      return matches.length > 0;
    });
  const found = [...find(catalog.entries, true), ...find(catalog.unlisted.flatMap(listEntries), false)];
  const first = found.slice(0, MAX_NAMED).map(({ path }) => path);
  const unmatched = patterns.filter((_, at) => !matched.has(at));
  const problem = findFlaw(patterns, kind) ?? null;
  const text = problem ?? describeMatches(found, unmatched, catalog);
  return { methods: found.length, first, unmatched, problem, text };
}

type MethodTest = (method: Method) => boolean;

function createPatternTest(pattern: string): MethodTest {
  const matches = createPathMatcher(pattern);
  return ({ path }) => matches(path);
}

function createKeyTest(text: string): MethodTest {
  const key = parseKey(text);
  return (method) => key?.match(method) !== undefined;
}

function findFlaw(patterns: readonly string[], kind: PatternKind): string | undefined {
  if (kind === "permission") return findPermissionFlaw(patterns.map((pattern) => `call:${pattern}`));
  const wrong = patterns.find((pattern) => parseKey(pattern) === undefined);
  return wrong && `${wrong} is not the key of a row. Write Skill.method, Skill.* or a name`;
}

function describeMatches(found: readonly Method[], unmatched: readonly string[], catalog: Catalog): string {
  const paths = found.map(({ path }) => path);
  const noun = found.length === 1 ? "method" : "methods";
  const count =
    found.length === 0 ? "Matches no method" : `Matches ${found.length} ${noun}: ${formatList(paths, MAX_NAMED)}`;
  if (unmatched.length === 0) return count;
  const lacking = found.length === 0 ? count : `${count}. No method: ${formatList(unmatched, MAX_NAMED)}`;
  const nearest = unmatched.slice(0, MAX_SUGGESTED).flatMap((pattern) => suggestPatterns(pattern, catalog));
  const advice = didYouMean([...new Set(nearest)]);
  return advice === "" ? lacking : `${lacking}; ${advice}`;
}

/** Returns the pattern or path that is nearest to a pattern which matches no method; an empty list if none is near. */
export function suggestPatterns(pattern: string, { entries, skills }: Catalog): readonly string[] {
  if (!pattern.includes("*")) {
    const paths = pattern.includes(".") ? entries.map(({ path }) => path) : [];
    return suggestNames(pattern, paths, 1);
  }
  const { skill } = splitPath(pattern);
  const names = skills.map(({ name }) => name);
  return suggestNames(skill, names, 1).map((name) => `${name}.*`);
}

/** Lists the patterns that a person may mean: those of skills first, then the paths of methods. */
export function listPatterns({ entries, skills }: Catalog): readonly string[] {
  return [...skills.map(({ name }) => `${name}.*`), ...entries.map(({ path }) => path)];
}
