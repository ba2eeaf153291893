import type { Method, Skill } from "../model/catalog.ts";
import { getEffectKnowledge } from "../model/tools/effects.ts";
import { splitWords } from "./search/language/words.ts";

const FINDS: ReadonlySet<string> = new Set(["list", "search", "find", "query"]);
const READS: ReadonlySet<string> = new Set(["get", "read", "fetch", "retrieve", "show", "lookup", "status", "log"]);
const CHANGES: ReadonlySet<string> = new Set(
  "create add insert send post write save update edit set patch change delete remove move commit run execute".split(
    " ",
  ),
);

/** Words that find things wherever they stand: `API-post-search`. */
const FINDS_ANYWHERE: readonly string[] = ["search", "query"];

/** A name with more words than these is of a part of a thing: `list_order_comments` beside `list_orders`. */
const WORDS_OF_THING = 2;

/**
 * Sorts the methods of a skill by how soon a task needs them, as their names say: those that find things, then those that
 * read or change one, then others.
 */
export function sortByUse({ methods }: Skill): readonly Method[] {
  const words = methods.map(({ name }) => splitWords(name));
  const first = words[0]?.[0];
  const hasPrefix = methods.length > 1 && words.every((each) => each.length > 1 && each[0] === first);
  return methods
    .map((method, at) => ({ method, rank: rank(method, words[at]?.slice(hasPrefix ? 1 : 0) ?? []) }))
    .toSorted((a, b) => a.rank - b.rank || (a.method.name < b.method.name ? -1 : 1))
    .map(({ method }) => method);
}

function rank(method: Method, words: readonly string[]): number {
  if (FINDS_ANYWHERE.some((word) => words.includes(word))) return 0;
  return rankVerb(method, words[0] ?? "") + Math.max(0, words.length - WORDS_OF_THING);
}

function rankVerb(method: Method, verb: string): number {
  if (FINDS.has(verb)) return 0;
  if (READS.has(verb)) return 1;
  return CHANGES.has(verb) || ["none", "unlikely"].includes(getEffectKnowledge(method)) ? 2 : 3;
}
