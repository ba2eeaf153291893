import type { Learned, Learning } from "./learning/index.ts";
import type { Caller } from "./model/caller.ts";
import type { Catalog, Method } from "./model/catalog.ts";
import {
  declarations,
  describe,
  type Description,
  type ObservedOutput,
  search,
  type SearchAnswer,
  type SearchOptions,
} from "./registry/index.ts";
import type { Route } from "./router/index.ts";

/** How callers find methods: the catalog's own answers, with what was learned from use. */
export interface Discovery {
  search(catalog: Catalog, caller: Caller, query: string, options: SearchOptions): SearchAnswer;
  describe(catalog: Catalog, path: string): Description;
  declarations(catalog: Catalog, skills?: readonly string[]): string;
  learned(catalog: Catalog, caller: Caller): Learned;
  /** What the results of a method were like so far, if that was learned. */
  observed(method: Method): ObservedOutput | undefined;
}

export function createDiscovery(learning: Learning): Discovery {
  return {
    search(catalog, caller, query, options) {
      const learned = learning.wordsOf(caller);
      const answer = search(catalog, query, { ...options, ...(learned !== undefined && { learned }) });
      learning.searched(caller, query, answer);
      return answer;
    },
    describe: (catalog, path) => describe(catalog, path, learning.observed),
    declarations: (catalog, skills) => declarations(catalog, skills, learning.observed),
    learned: (catalog, caller) => learning.learned(catalog, caller),
    observed: learning.observed,
  };
}

/** Lets calls that went well be learned from. */
export function learningRoute(route: Route, learning: Learning): Route {
  return async (call) => {
    const value = await route(call);
    const drift = learning.returned(call.caller, call.method, value);
    if (drift !== undefined) call.note(drift);
    return value;
  };
}
