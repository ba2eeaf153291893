import type { Caller } from "../model/caller.ts";
import { getOriginal, type Method } from "../model/catalog.ts";
import { setBounded } from "../shared/lru.ts";
import type { InferredOutput } from "../registry/index.ts";
import { collectDataNames, decidesMembers } from "./arguments.ts";
import { createShape, observe, type ValueShape } from "./infer-schema.ts";
import { digestMethod, StoredResults, type StoredResultsOptions } from "./stored-results.ts";

/** Methods whose results are remembered; beyond this, the least recently called are forgotten. */
const MAX_METHODS = 1_000;

/** After this many results, a result of another shape is reported. */
const SETTLED = 5;

/** A call that succeeded. */
export interface ReturnedCall {
  readonly caller: Caller;
  readonly method: Method;
  readonly args: readonly unknown[];
  readonly value: unknown;
  /** True if the program that made the call reads members of this name; absent for a call without a program. */
  readonly reads?: (name: string) => boolean;
}

/** Observes the types and property names of the results of methods, no values. */
export interface InferredResults {
  /** Observes from a result. Reports, once for each method, a result that differs from those before it where it is read. */
  returned(call: ReturnedCall): string | undefined;
  /** True if no deviation of this method's results has been reported yet. */
  shouldReport(method: Method): boolean;
  /** Returns what a caller may see of the result type, for a method without an output schema. */
  observed(caller: Caller, method: Method): InferredOutput | undefined;
  /** Forgets the results of one method, or of all. */
  forget(path?: string): void;
  /** Writes what has changed; what changes later is not stored. */
  close(): void;
  readonly paths: readonly string[];
}

export interface InferredMethod {
  /** The method at its last call. */
  method: Method;
  readonly shape: ValueShape;
  hasDrifted: boolean;
}

export function createInferredResults(store?: StoredResultsOptions): InferredResults {
  const methods = new Map<string, InferredMethod>();
  const skills = new StoredResults(store, (skill) =>
    [...methods.values()].filter(({ method }) => method.skill === skill),
  );

  function findEntry(method: Method): InferredMethod | undefined {
    const existing = methods.get(method.path);
    if (existing !== undefined && isSame(existing.method, method)) return existing;
    methods.delete(method.path);
    const shape = skills.take(method);
    if (shape === undefined) return undefined;
    const entry = { method, shape, hasDrifted: false };
    setBounded(methods, [method.path, entry], MAX_METHODS);
    return entry;
  }

  function remembered(method: Method): InferredMethod {
    const entry = findEntry(method) ?? { method, shape: createShape(), hasDrifted: false };
    entry.method = method;
    setBounded(methods, [method.path, entry], MAX_METHODS);
    return entry;
  }

  function shouldReport(method: Method): boolean {
    const entry = remembered(method);
    const isFirst = !entry.hasDrifted;
    entry.hasDrifted = true;
    return isFirst;
  }

  return {
    returned({ caller, method, args, value, reads }) {
      if (method.output !== undefined || value === undefined || decidesMembers(method, args)) return undefined;
      const entry = remembered(method);
      const { times } = entry.shape;
      const compares = times >= SETTLED && !entry.hasDrifted;
      const dataNames = collectDataNames(args);
      const { hasChanged, difference } = observe(value, entry.shape, { caller, compares, dataNames });
      // The second result makes a guess an observation.
      if (hasChanged || times === 1) skills.changed(method.skill);
      if (difference === undefined || reads?.(nameAt(difference.path)) === false) return undefined;
      if (!shouldReport(method)) return undefined;
      const where = difference.path === "" ? "" : ` at ${difference.path}`;
      return `The result of ${method.path} differs from the ${times} before it${where}: ${difference.says}`;
    },
    shouldReport,
    observed(caller, methodInView) {
      const method = getOriginal(methodInView);
      if (method.output !== undefined) return undefined;
      const entry = findEntry(method);
      if (entry === undefined || entry.shape.times === 0) return undefined;
      return { schema: skills.getSchema(caller, method, entry.shape), times: entry.shape.times };
    },
    forget(path) {
      if (path === undefined) methods.clear();
      else methods.delete(path);
      skills.forget(path);
    },
    close: () => skills.close(),
    get paths() {
      return [...methods.keys()];
    },
  };
}

/** Returns the last name in a place: `low` of `days[].low[]`, empty for the value itself. */
function nameAt(path: string): string {
  return /[^.[\]]*(?=(?:\[\])*$)/.exec(path)?.[0] ?? "";
}

/** A reloaded method is the same if its schemas and its version are unchanged. */
function isSame(before: Method, after: Method): boolean {
  return before === after || digestMethod(before) === digestMethod(after);
}
