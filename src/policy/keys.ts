import { createPathMatcher, findMethodPath } from "../model/permissions.ts";
import type { RuledMethod } from "../model/policy.ts";
import { splitPath } from "../shared/names/method-paths.ts";

// The kinds of matches between a key and a method, as `policy explain` words them.
const EXACT = "names the method exactly";
const WHOLE_METHOD = "names the method that it is a part of";
const PART_PATTERN = "is a pattern of parts of the method";
const SKILL_PATTERN = "is a pattern of its skill";
const NAME = "names methods of any skill";
const PATTERN = "is a pattern of several skills";
export const CAPABILITY = "is a capability that the method declares";
const ALL = "matches every method";

/** The most specific kind first. */
export const MATCH_KINDS = [EXACT, PART_PATTERN, WHOLE_METHOD, SKILL_PATTERN, NAME, PATTERN, CAPABILITY, ALL] as const;

export type MatchKind = (typeof MATCH_KINDS)[number];

/** The key of a row: a path, a pattern, a name of methods, or a capability. */
export interface PolicyKey {
  readonly text: string;
  /** The number of characters other than `*`: of two patterns of one kind, the longer is more specific. */
  readonly literals: number;
  /** Returns how the key matches a method; `undefined` if it does not. */
  readonly match: (method: RuledMethod) => MatchKind | undefined;
}

/** Precedes a capability that is not the name of methods, too. */
export const CAPABILITY_PREFIX = "capability:";

/** Device, skill and method. */
const MAX_PARTS = 3;

/** Longer than any pattern that a person writes; two patterns are compared character by character. */
const MAX_KEY_UNITS = 200;

/** Parses the key of a row. `undefined` for a text that no method can match. */
export function parseKey(text: string): PolicyKey | undefined {
  const literals = text.replaceAll("*", "").length;
  const parts = text.split(".");
  const { skill } = splitPath(text);
  if (
    text === "" ||
    text.length > MAX_KEY_UNITS ||
    /[^\w*.$@:-]/.test(text) ||
    parts.length > MAX_PARTS ||
    parts.includes("")
  )
    return undefined;
  if (text.includes("*")) return { text, literals, match: matchPattern(text, skill) };
  const capability = text.startsWith(CAPABILITY_PREFIX) ? text.slice(CAPABILITY_PREFIX.length) : undefined;
  const declares = ({ metadata }: RuledMethod, word: string): MatchKind | undefined =>
    metadata.capabilities.some((each) => each === word) ? CAPABILITY : undefined;
  if (capability !== undefined) return { text, literals, match: (method) => declares(method, capability) };
  if (parts.length > 1) return { text, literals, match: ({ path }) => matchPath(text, path) };
  return {
    text,
    literals,
    match: (method) => (hasName(method, text) ? NAME : declares(method, text)),
  };
}

function matchPath(text: string, path: string): MatchKind | undefined {
  if (path === text) return EXACT;
  return findMethodPath(path) === text ? WHOLE_METHOD : undefined;
}

/** The name of a method is that of its parts, too. */
function hasName({ name, wireName }: RuledMethod, text: string): boolean {
  return name === text || wireName === text || findMethodPath(name) === text;
}

function matchPattern(text: string, skill: string): PolicyKey["match"] {
  const matches = createPathMatcher(text);
  const isOfOneSkill = text.includes(".") && !skill.includes("*");
  const ofSkill = findMethodPath(text) === undefined ? SKILL_PATTERN : PART_PATTERN;
  const kind = !/\w/.test(text) ? ALL : isOfOneSkill ? ofSkill : PATTERN;
  return ({ path }) => (matches(path) ? kind : undefined);
}

/** True for patterns of which neither is longer, so that they can be ambiguous. */
export function isComparable(one: PolicyKey, other: PolicyKey): boolean {
  return one.text.includes("*") && other.text.includes("*") && one.literals === other.literals;
}

/**
 * Returns a path that two patterns match although neither of them is more specific; `undefined` if there is no such path. Names
 * and paths are never ambiguous: two equal ones are one key.
 */
export function findAmbiguousPath(one: PolicyKey, other: PolicyKey): string | undefined {
  if (!isComparable(one, other)) return undefined;
  const path = findCommonText(one.text, other.text);
  if (path === undefined) return undefined;
  const method = { path, name: "", wireName: "" } as RuledMethod;
  return one.match(method) === other.match(method) ? path : undefined;
}

/** The shortest text that two patterns match, in which `*` stands for any run of characters. */
function findCommonText(one: string, other: string): string | undefined {
  const width = other.length + 1;
  const dead = new Uint8Array((one.length + 1) * width);
  const find = (at: number, otherAt: number): string | undefined => {
    if (dead[at * width + otherAt] === 1) return undefined;
    const found = step(at, otherAt);
    if (found === undefined) dead[at * width + otherAt] = 1;
    return found;
  };
  const step = (at: number, otherAt: number): string | undefined => {
    const [here, there] = [one[at], other[otherAt]];
    if (here === undefined && there === undefined) return "";
    if (here === "*") return find(at + 1, otherAt) ?? (there === undefined ? undefined : skip(there, at, otherAt + 1));
    if (there === "*") return find(at, otherAt + 1) ?? (here === undefined ? undefined : skip(here, at + 1, otherAt));
    return here === there && here !== undefined ? prefixed(here, find(at + 1, otherAt + 1)) : undefined;
  };
  const skip = (character: string, at: number, otherAt: number): string | undefined =>
    character === "*" ? find(at, otherAt) : prefixed(character, find(at, otherAt));
  return find(0, 0);
}

function prefixed(start: string, rest: string | undefined): string | undefined {
  return rest === undefined ? undefined : start + rest;
}
