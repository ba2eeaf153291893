import { createError, type ErrorFacts, type SkillgateError } from "../errors.ts";
import { formatChoices } from "./format-text.ts";
import { printableName } from "./source-text.ts";

/** No name is compared beyond this many characters, so that a hostile one costs no more than a long one. */
const MAX_COMPARED_CHARACTERS = 80;

/** The most typing errors that are allowed, regardless of the name's length. */
const MAX_EDITS = 6;

/** The most characters of an unknown name that a message repeats. */
const MAX_SHOWN_CHARACTERS = 100;

/** The cost of leaving out the suffix of a skill's name. */
const SUFFIX_COST = 0.05;

/** The cost of a candidate that is unrelated to the name. */
const IMPLAUSIBLE = 1;

/**
 * Returns the candidates that are similar to `name`, best first; an empty list if none is. Case and
 * separators do not count: `readfile`, `read-file` and `ReadFile` are one name. Near are names with few typing errors,
 * names that begin with, contain or are contained in the other, and names of the same words in another order.
 */
export function suggestNames(name: string, candidates: Iterable<string>, limit = 3): string[] {
  const target = foldName(name);
  if (target === "" || limit < 1) return [];
  const words = splitWords(name);
  const best: { readonly candidate: string; readonly cost: number }[] = [];
  for (const candidate of candidates) {
    const bar = best.length < limit ? IMPLAUSIBLE : (best.at(-1)?.cost ?? IMPLAUSIBLE);
    const cost = getCost(target, words, foldName(candidate), bar);
    if (cost >= bar) continue;
    const index = best.findLastIndex((other) => other.cost <= cost) + 1;
    best.splice(index, 0, { candidate, cost });
    if (best.length > limit) best.pop();
  }
  return best.map(({ candidate }) => candidate);
}

/** A name that does not exist, in words. */
export interface UnknownName {
  /** `Unknown scope: projct; did you mean project?` */
  readonly message: string;
  /** The message without its subject: `projct; did you mean project?` */
  readonly detail: string;
  /** Similar names, best first. */
  readonly suggestions: readonly string[];
}

interface UnknownNameOptions {
  /** The most names to suggest. */
  readonly limit?: number;
  /** The advice if no name is similar: `use bash, zsh or fish`. */
  readonly otherwise?: string;
}

/** Describes a name of one kind that is not among the `candidates`. */
export function describeUnknownName(
  kind: string,
  name: string,
  candidates: Iterable<string>,
  { limit = 3, otherwise = "" }: UnknownNameOptions = {},
): UnknownName {
  const suggestions = suggestNames(name, candidates, limit);
  const advice = didYouMean(suggestions) || otherwise;
  const printable = name === "" ? '""' : printableName(name, MAX_SHOWN_CHARACTERS);
  const detail = `${printable}${advice && `; ${advice}`}`;
  return { message: `Unknown ${kind}: ${detail}`, detail, suggestions };
}

/**
 * Describes a field that an object does not have: `prot; did you mean port?`, or all that it can have: `document; use openapi or
 * graphql`. The names of the fields are few and fixed.
 */
export function describeUnknownField(name: string, fields: readonly string[]): string {
  const otherwise = fields.length === 0 ? "" : `use ${formatChoices(fields)}`;
  return describeUnknownName("field", name, fields, { limit: 1, otherwise }).detail;
}

/** Creates the error of a skill or a method that does not exist. */
export function createUnknownNameError(
  code: "SKILL_UNKNOWN" | "METHOD_UNKNOWN",
  name: string,
  candidates: Iterable<string>,
  facts: ErrorFacts = {},
): SkillgateError {
  const { detail, suggestions } = describeUnknownName("name", name, candidates);
  return createError(code, detail, { suggestions, ...facts });
}

/** `did you mean add or addAll?`; an empty text without names. */
export function didYouMean(names: readonly string[]): string {
  return names.length === 0 ? "" : `did you mean ${formatChoices(names)}?`;
}

/** True if at most `limit` typing errors, a small number, lie between two words. */
export function isWithinEditDistance(a: string, b: string, limit: number): boolean {
  const longest = Math.max(a.length, b.length);
  return (
    Math.abs(a.length - b.length) <= limit && longest <= MAX_COMPARED_CHARACTERS && editDistance(a, b, limit) <= limit
  );
}

/** From 0 (the same name) to `IMPLAUSIBLE`. Typing errors are counted only as far as they stay under `bar`. */
function getCost(target: string, words: readonly string[], candidate: string, bar: number): number {
  if (candidate === target) return 0;
  const bare = candidate.replace(/(?:mcp|skill)$/, "");
  return Math.min(
    editCost(target, candidate, bar),
    bare === candidate ? IMPLAUSIBLE : SUFFIX_COST + editCost(target, bare, bar - SUFFIX_COST),
    containmentCost(target, candidate),
    sharedWordsCost(target, words, candidate),
  );
}

function editCost(a: string, b: string, bar: number): number {
  const longer = Math.max(a.length, b.length);
  const limit = Math.min(Math.floor(longer / 3), Math.floor(longer * bar), MAX_EDITS);
  if (limit < 0 || Math.abs(a.length - b.length) > limit) return IMPLAUSIBLE;
  const edits = editDistance(a, b, limit);
  return edits > limit ? IMPLAUSIBLE : edits / longer;
}

function containmentCost(a: string, b: string): number {
  const [shorter, longer] = a.length < b.length ? [a, b] : [b, a];
  const missing = 1 - shorter.length / longer.length;
  if (shorter.length >= 2 && longer.startsWith(shorter)) return 0.15 + 0.3 * missing;
  if (shorter.length >= 3 && longer.includes(shorter)) return 0.3 + 0.4 * missing;
  return IMPLAUSIBLE;
}

/** The same words in another order, or with others between: `search_web`, `webSearch`, `web_page_search`. */
function sharedWordsCost(target: string, words: readonly string[], candidate: string): number {
  if (words.length < 2) return IMPLAUSIBLE;
  let shared = 0;
  for (const word of words) if (candidate.includes(word)) shared += word.length;
  const share = shared / Math.max(target.length, candidate.length);
  return share < 0.5 ? IMPLAUSIBLE : 0.3 + 0.5 * (1 - share);
}

/** Insertions, deletions, replacements and swaps of neighbours; anything over `limit` is `limit + 1`. */
function editDistance(a: string, b: string, limit: number): number {
  let start = 0;
  while (start < a.length && start < b.length && a.charCodeAt(start) === b.charCodeAt(start)) start++;
  let [aEnd, bEnd] = [a.length, b.length];
  while (aEnd > start && bEnd > start && a.charCodeAt(aEnd - 1) === b.charCodeAt(bEnd - 1))
    [aEnd, bEnd] = [aEnd - 1, bEnd - 1];
  return bandedDistance(a.slice(start, aEnd), b.slice(start, bEnd), limit);
}

const ROWS = [0, 1, 2].map(() => new Uint8Array(MAX_COMPARED_CHARACTERS + 1));

/** One row of the table at a time, and of each row only what can still end within `limit`. */
function bandedDistance(a: string, b: string, limit: number): number {
  let [before, previous, current] = ROWS as [Uint8Array, Uint8Array, Uint8Array];
  const over = limit + 1;
  previous.fill(over);
  for (let j = 0; j <= Math.min(b.length, limit); j++) previous[j] = j;
  for (let i = 1; i <= a.length; i++) {
    current.fill(over);
    if (i <= limit) current[0] = i;
    let least = current[0] ?? over;
    for (let j = Math.max(1, i - limit); j <= Math.min(b.length, i + limit); j++) {
      const replaced = (previous[j - 1] ?? over) + (a.charCodeAt(i - 1) === b.charCodeAt(j - 1) ? 0 : 1);
      const swapped = areSwapped(a, i, b, j) ? (before[j - 2] ?? over) + 1 : over;
      const edits = Math.min(replaced, swapped, (previous[j] ?? over) + 1, (current[j - 1] ?? over) + 1, over);
      current[j] = edits;
      if (edits < least) least = edits;
    }
    if (least > limit) return over;
    [before, previous, current] = [previous, current, before];
  }
  return previous[b.length] ?? over;
}

/** True if the two characters that end at `i` and `j` are the same two in the other order. */
function areSwapped(a: string, i: number, b: string, j: number): boolean {
  return i > 1 && j > 1 && a.charCodeAt(i - 1) === b.charCodeAt(j - 2) && a.charCodeAt(i - 2) === b.charCodeAt(j - 1);
}

/** Lower case, letters and digits only, of bounded length. */
function foldName(name: string): string {
  const text = name.length > 4 * MAX_COMPARED_CHARACTERS ? name.slice(0, 4 * MAX_COMPARED_CHARACTERS) : name;
  const lower = text.toLowerCase();
  const bare = /^[a-z0-9]*$/.test(lower) ? lower : lower.replace(/[^\p{L}\p{M}\p{N}]+/gu, "");
  return bare.length > MAX_COMPARED_CHARACTERS ? bare.slice(0, MAX_COMPARED_CHARACTERS) : bare;
}

/** The first words of an identifier, without those too short to tell anything. */
function splitWords(name: string): readonly string[] {
  const words = name.slice(0, MAX_COMPARED_CHARACTERS).match(/\p{Lu}?[\p{Ll}\p{Lo}]+|\p{Lu}+(?!\p{Ll})|\p{N}+/gu) ?? [];
  return words
    .filter((word) => word.length > 2)
    .slice(0, 8)
    .map((word) => word.toLowerCase());
}
