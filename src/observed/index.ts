import { type Caller, OWNER } from "../model/caller.ts";
import type { Catalog, Method } from "../model/catalog.ts";
import type { JsonSchema } from "../model/json.ts";
import type { ObservedWords, FindInferredOutput, InferredOutput, SearchAnswer } from "../registry/index.ts";
import { findExampleResult } from "./example-results.ts";
import { createSearchFeedback } from "./search-feedback.ts";
import { createShape, observe } from "./infer-schema.ts";
import { createInferredResults, type ReturnedCall } from "./inferred-results.ts";
import { toSchema } from "./shape-schema.ts";
import type { StoredResultsOptions } from "./stored-results.ts";

export type { StoredResultsOptions } from "./stored-results.ts";

/** Which kinds of observations are on. */
export interface ObservationSettings {
  /** Observe which words stand for which methods, from the searches of a caller before its calls. */
  readonly requests: boolean;
  /** Observe the types of the results of methods. */
  readonly results: boolean;
}

/** A readable summary of what was observed. */
export interface Observed {
  /** The words that were observed from a caller, by method. */
  readonly requests: readonly { readonly path: string; readonly words: readonly string[] }[];
  /** The types of the results of methods, and the number of results seen. */
  readonly results: readonly { readonly path: string; readonly times: number; readonly schema: JsonSchema }[];
}

/**
 * Observes from use: bounded, without values, and erasable. Words observed from a caller apply only to that caller.
 * Result types are shared by all callers, except for property names that only one caller's results have had.
 */
export interface Observations {
  searched(caller: Caller, query: string, answer: SearchAnswer): void;
  /** Observes from a successful call. Reports, once for each method, a result that differs from those before it. */
  returned(call: ReturnedCall): string | undefined;
  /** True if no deviation of this method's results has been reported yet. */
  readonly shouldReport: (method: Method) => boolean;
  getWords(caller: Caller): ObservedWords | undefined;
  /** Returns the result types that a caller may see; where none was observed, that of an example in the description. */
  readonly observedFor: (caller: Caller) => FindInferredOutput;
  /** Returns what was observed for a caller, limited to the methods of the catalog. */
  observed(catalog: Catalog, caller?: Caller): Observed;
  /** How often something was forgotten. */
  readonly forgotten: number;
  /** Writes what is not written yet. */
  close(): void;
  /** Forgets the words of one caller; without a caller, the words of all callers and the result types. For one method or all. */
  forget(caller?: Caller, path?: string): void;
}

/** Infers the schema of one value: types and property names. */
export function inferSchema(value: unknown): JsonSchema {
  const shape = createShape();
  observe(value, shape, { caller: OWNER, compares: false });
  return toSchema(shape, OWNER);
}

/** The types of examples, which stay the same for a method. */
const EXAMPLES = new WeakMap<Method, InferredOutput | null>();

function getExampleOutput(method: Method): InferredOutput | undefined {
  if (method.output !== undefined) return undefined;
  let output = EXAMPLES.get(method);
  if (output === undefined) {
    const value = findExampleResult(method);
    output = value === undefined ? null : { schema: inferSchema(value), times: 0 };
    EXAMPLES.set(method, output);
  }
  return output ?? undefined;
}

/** Without `store`, what is observed ends with the runtime. Words are never stored. */
export function createObservation(settings: ObservationSettings, store?: StoredResultsOptions): Observations {
  const requests = createSearchFeedback();
  const results = createInferredResults(settings.results ? store : undefined);
  let forgotten = 0;
  return {
    searched(caller, query, answer) {
      if (settings.requests) requests.searched(caller.id, query, answer);
    },
    returned(call) {
      if (settings.requests) requests.called(call.caller.id, call.method.path);
      return settings.results ? results.returned(call) : undefined;
    },
    close: () => results.close(),
    shouldReport: (method) => !settings.results || results.shouldReport(method),
    getWords: (caller) => (settings.requests ? requests.getWords(caller.id) : undefined),
    observedFor: (caller) => (method) =>
      (settings.results ? results.observed(caller, method) : undefined) ?? getExampleOutput(method),
    observed(catalog, caller = OWNER) {
      const taught = requests.getWords(caller.id).entries();
      return {
        requests: taught.filter(({ path }) => catalog.method(path) !== undefined),
        results: catalog.methods.flatMap((method) => {
          const output = settings.results ? results.observed(caller, method) : undefined;
          return output === undefined ? [] : [{ path: method.path, ...output }];
        }),
      };
    },
    get forgotten() {
      return forgotten;
    },
    forget(caller, path) {
      forgotten += 1;
      requests.forget(caller?.id, path);
      if (caller === undefined) results.forget(path);
    },
  };
}
