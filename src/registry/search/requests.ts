import type { HttpRequest } from "../../model/skill.ts";
import type { WeightedTerm } from "./score.ts";
import { REQUEST_WEIGHTS } from "./weights.ts";
import { getStems } from "./language/words.ts";

/** Kinds of requests, by the verb and the end of the path. `act` is a POST to something that is no collection. */
type Action = "list" | "get" | "create" | "put" | "update" | "delete" | "act";

interface RequestFacts {
  readonly action: Action;
  /** The stems of the last segment of the path that is no parameter. */
  readonly subject: readonly string[];
  /** The stems of the segments before it. */
  readonly context: readonly string[];
}

const FACTS = new WeakMap<HttpRequest, RequestFacts>();

/** Reads a request once. Parameters of its path, and a version at its beginning, are left out. */
function readRequest(request: HttpRequest): RequestFacts {
  const existing = FACTS.get(request);
  if (existing !== undefined) return existing;
  const segments = request.path.split("/").filter((segment) => segment !== "" && !/^v\d/.test(segment));
  const names = segments.filter((segment) => !segment.includes("{"));
  const last = names.at(-1) ?? "";
  const isOne = segments.at(-1)?.includes("{") === true;
  const facts = {
    action: getAction(request.verb, isOne, last.endsWith("s")),
    subject: getStems(last),
    context: names.slice(0, -1).flatMap(getStems),
  };
  FACTS.set(request, facts);
  return facts;
}

function getAction(verb: string, isOne: boolean, isPlural: boolean): Action {
  if (verb === "get") return isPlural && !isOne ? "list" : "get";
  if (verb === "post") return isOne ? "update" : isPlural ? "create" : "act";
  if (verb === "patch") return "update";
  return verb === "put" || verb === "delete" ? verb : "act";
}

/** Returns the words of a path for the index. */
export function getPathStems(request: HttpRequest): readonly string[] {
  const { subject, context } = readRequest(request);
  return [...context, ...subject];
}

/** How well each action is what is asked for: from 1 to -1, which is something else. */
type Fits = Partial<Record<Action, number>>;

const INTENTS: readonly (readonly [words: string, fits: Fits])[] = [
  ["list all every which who", { list: 1, get: 0.3 }],
  [
    "get read fetch retrieve show view see details check is are was were does did has what how when",
    { get: 1, list: 0.5 },
  ],
  ["search find look query", { get: 0.7, list: 0.7, act: 0.3 }],
  [
    "create add new make open post publish start register upload send invite assign",
    { create: 1, put: 0.6, act: 0.6, update: 0.2 },
  ],
  ["update edit change modify rename set replace patch move", { update: 1, put: 1, create: 0.3, act: 0.3 }],
  ["delete remove clear drop erase revoke", { delete: 1, act: 0 }],
];

const FITS = new Map(INTENTS.flatMap(([words, fits]) => words.split(" ").map((word) => [word, fits] as const)));

/** The first word of a request before one of these is a verb: `star a repository`, `comment on an issue`. */
const AFTER_VERB: ReadonlySet<string> = new Set(["a", "an", "the", "my", "this", "all", "on", "to"]);

/** Fits of a verb that is not listed; those of reading are. */
const OTHER_VERB: Fits = { act: 1, put: 0.7, create: 0.7, update: 0.7, delete: 0.3 };

/** `members of a team` */
const NO_VERB: Fits = { list: 1, get: 0.5, act: 0 };

function readIntent(words: readonly string[]): Fits {
  const verb = words.find((word) => FITS.has(word));
  return FITS.get(verb ?? "") ?? (AFTER_VERB.has(words[1] ?? "") ? OTHER_VERB : NO_VERB);
}

/** Words that a longer word may begin with: `assign` is in `assignees`. */
const MIN_BEGINNING = 4;

/** How much a synonym, or a word's beginning, counts beside the word itself. */
const ALTERNATIVE_SHARE = 0.8;

/**
 * Creates a function that returns a factor on the score of a method that sends a request: how well its verb and the words of its
 * path fit a query. `words` are all words of the query, `terms` those that are searched.
 */
export function createRequestScorer(
  words: readonly string[],
  terms: readonly WeightedTerm[],
): (request: HttpRequest) => number {
  const fits = readIntent(words);
  const shares = readShares(terms);
  const beginnings = [...shares.keys()].filter((stem) => stem.length >= MIN_BEGINNING);
  const getShare = (stem: string): number =>
    shares.get(stem) ?? (beginnings.some((each) => stem.startsWith(each)) ? ALTERNATIVE_SHARE : 0);
  /** The share of words that the query does not have. */
  const getMissing = (stems: readonly string[]): number =>
    stems.length === 0 ? 0 : 1 - stems.reduce((sum, stem) => sum + getShare(stem), 0) / stems.length;
  return (request) => {
    const { action, subject, context } = readRequest(request);
    const { fit, subjectWords, contextWords, segments } = REQUEST_WEIGHTS;
    return (
      (1 + fit * (fits[action] ?? -1)) *
      (1 - subjectWords * getMissing(subject)) *
      (1 - contextWords * getMissing(context)) *
      (1 - segments) ** context.length
    );
  };
}

/** Returns the stems that a query has, and how much each counts. */
function readShares(terms: readonly WeightedTerm[]): ReadonlyMap<string, number> {
  const shares = new Map<string, number>();
  for (const { term, words: found } of terms) {
    if (term.word === "") continue;
    shares.set(term.stem, 1);
    for (const { stem } of found) if (!shares.has(stem)) shares.set(stem, ALTERNATIVE_SHARE);
  }
  return shares;
}
