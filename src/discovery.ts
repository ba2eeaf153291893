import { sentence, SkillgateError } from "./errors.ts";
import type { Learned, Learning } from "./learning/index.ts";
import type { Caller } from "./model/caller.ts";
import type { Catalog, Method } from "./model/catalog.ts";
import { TIMED_OUT, within } from "./model/within.ts";
import {
  declarations,
  describe,
  type Description,
  type Observed,
  search,
  type SearchAnswer,
  type SearchOptions,
} from "./registry/index.ts";
import type { Route } from "./router/index.ts";

/** How callers find methods: the catalog's own answers, with what was learned from use. */
export interface Discovery {
  /** Throws `DISCOVERY_TIMEOUT`, as `describe` does. */
  search(catalog: Catalog, caller: Caller, query: string, options: SearchOptions): SearchAnswer;
  /** The best methods for some words, in no time; none where that takes longer. */
  similar(catalog: Catalog, words: string): readonly Method[];
  describe(catalog: Catalog, caller: Caller, path: string): Description;
  declarations(catalog: Catalog, caller: Caller, skills?: readonly string[]): string;
  learned(catalog: Catalog, caller: Caller): Learned;
  /** What the results of methods were like so far, as far as that was learned and the caller may know it. */
  readonly observedFor: (caller: Caller) => Observed;
}

/** Each question is answered within `discoveryMs` (X8), or not at all: the host does nothing else meanwhile. */
export function createDiscovery(learning: Learning, discoveryMs: number): Discovery {
  return {
    search(catalog, caller, query, options) {
      const learned = learning.wordsOf(caller);
      const deadline = performance.now() + discoveryMs;
      const answer = search(catalog, query, { ...options, deadline, ...(learned !== undefined && { learned }) });
      learning.searched(caller, query, answer);
      return answer;
    },
    similar(catalog, words) {
      try {
        const { results } = search(catalog, words, { limit: SIMILAR, deadline: performance.now() + discoveryMs });
        return results.flatMap(({ path }) => catalog.method(path) ?? []);
      } catch (thrown) {
        if (isTimeout(thrown)) return [];
        throw thrown;
      }
    },
    describe(catalog, caller, path) {
      const description = within(discoveryMs, () => describe(catalog, path, learning.observedFor(caller)));
      if (description === TIMED_OUT) throw describeTimeout(path, discoveryMs);
      return description;
    },
    declarations: (catalog, caller, skills) => declarations(catalog, skills, learning.observedFor(caller)),
    learned: (catalog, caller) => learning.learned(catalog, caller),
    observedFor: learning.observedFor,
  };
}

const SIMILAR = 3;

function isTimeout(thrown: unknown): boolean {
  return thrown instanceof SkillgateError && thrown.code === "DISCOVERY_TIMEOUT";
}

function describeTimeout(path: string, timeoutMs: number): SkillgateError {
  const values = `what "${shortened(path)}" stands for is not all described after ${timeoutMs} ms`;
  return new SkillgateError("DISCOVERY_TIMEOUT", sentence("DISCOVERY_TIMEOUT", values), { timeoutMs });
}

function shortened(path: string): string {
  return path.length > SHOWN_UNITS ? `${path.slice(0, SHOWN_UNITS - 1)}…` : path;
}

const SHOWN_UNITS = 80;

/** Lets calls that went well be learned from. */
export function learningRoute(route: Route, learning: Learning): Route {
  return async (call) => {
    const value = await route(call);
    const drift = learning.returned(call.caller, call.method, value);
    if (drift !== undefined) call.note(drift);
    return value;
  };
}
