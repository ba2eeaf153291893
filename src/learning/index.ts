import { type Caller, OWNER } from "../model/caller.ts";
import type { Catalog, Method } from "../model/catalog.ts";
import type { JsonSchema } from "../model/json.ts";
import type { LearnedWords, FindInferredOutput, SearchAnswer } from "../registry/index.ts";
import { createSearchFeedback } from "./search-feedback.ts";
import { createInferredResults } from "./inferred-results.ts";

/** What may be learned. */
export interface LearningSettings {
  /** Which words stand for which methods, from what a caller searched before it called them. */
  readonly requests: boolean;
  /** What the results of methods look like. */
  readonly results: boolean;
}

/** What was learned, for people who want to know. */
export interface Learned {
  /** The words that a caller taught for methods. */
  readonly requests: readonly { readonly path: string; readonly words: readonly string[] }[];
  /** What the results of methods look like, and of how many. */
  readonly results: readonly { readonly path: string; readonly times: number; readonly schema: JsonSchema }[];
}

/**
 * Learns from use, in memory: bounded, without values, and forgotten when that is asked. What a caller taught is only
 * its own. Of results, all callers learn, except for names of properties that only one caller's results have had.
 */
export interface Learning {
  searched(caller: Caller, query: string, answer: SearchAnswer): void;
  /** A call went well. Says, once for each method, if its result is not like those before it. */
  returned(caller: Caller, method: Method, value: unknown): string | undefined;
  /** True if it is the first time that something is said against this method's results. */
  readonly shouldReport: (method: Method) => boolean;
  getWords(caller: Caller): LearnedWords | undefined;
  /** What a caller may know of the results of methods. */
  readonly observedFor: (caller: Caller) => FindInferredOutput;
  /** What was learned from and for a caller, as far as the catalog shows it. */
  learned(catalog: Catalog, caller?: Caller): Learned;
  /** Forgets what one caller taught; without a caller what all did, and results. Of one method, or of all. */
  forget(caller?: Caller, path?: string): void;
}

export function createLearning(settings: LearningSettings): Learning {
  const requests = createSearchFeedback();
  const results = createInferredResults();
  return {
    searched(caller, query, answer) {
      if (settings.requests) requests.searched(caller.id, query, answer);
    },
    returned(caller, method, value) {
      if (settings.requests) requests.called(caller.id, method.path);
      return settings.results ? results.returned(caller, method, value) : undefined;
    },
    shouldReport: (method) => !settings.results || results.shouldReport(method),
    getWords: (caller) => (settings.requests ? requests.getWords(caller.id) : undefined),
    observedFor: (caller) => (method) => results.observed(caller, method),
    learned(catalog, caller = OWNER) {
      const taught = requests.getWords(caller.id).entries();
      return {
        requests: taught.filter(({ path }) => catalog.method(path) !== undefined),
        results: results.paths.flatMap((path) => {
          const method = catalog.method(path);
          const output = method && results.observed(caller, method);
          return output === undefined ? [] : [{ path, ...output }];
        }),
      };
    },
    forget(caller, path) {
      requests.forget(caller?.id, path);
      if (caller === undefined) results.forget(path);
    },
  };
}
