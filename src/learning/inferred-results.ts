import type { Caller } from "../model/caller.ts";
import type { Method } from "../model/catalog.ts";
import type { JsonSchema } from "../model/json.ts";
import { setBounded } from "../shared/lru.ts";
import type { InferredOutput } from "../registry/index.ts";
import { schemaOf } from "./shape-schema.ts";
import { createShape, observe, type ValueShape } from "./infer-schema.ts";

/** Methods whose results are remembered; beyond it, those that were called longest ago are forgotten. */
const MAX_METHODS = 1_000;

/** After so many results of one shape, another one is worth a word. */
const SETTLED = 5;

/** Learns what the results of methods look like: types and names of properties, no values. */
export interface InferredResults {
  /** Takes in a caller's result. Says, once for each method, if it is not like those before it. */
  returned(caller: Caller, method: Method, value: unknown): string | undefined;
  /** True if it is the first time that something is said against this method's results. */
  shouldReport(method: Method): boolean;
  /** What a caller may know of the results of a method that does not describe them itself. */
  observed(caller: Caller, method: Method): InferredOutput | undefined;
  /** Of one method, or of all. */
  forget(path?: string): void;
  readonly paths: readonly string[];
}

interface ObservedMethod {
  /** The method as it was. */
  method: Method;
  readonly shape: ValueShape;
  /** Of each caller who asks; until a result changes them. */
  schemas: WeakMap<Caller, JsonSchema>;
  hasDrifted: boolean;
}

export function createInferredResults(): InferredResults {
  const methods = new Map<string, ObservedMethod>();

  function seen(method: Method): ObservedMethod | undefined {
    const known = methods.get(method.path);
    if (known === undefined || isSame(known.method, method)) return known;
    methods.delete(method.path);
    return undefined;
  }

  function remembered(method: Method): ObservedMethod {
    const entry = seen(method) ?? { method, shape: createShape(), schemas: new WeakMap(), hasDrifted: false };
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
    returned(caller, method, value) {
      if (method.output !== undefined || value === undefined) return undefined;
      const entry = remembered(method);
      const { times } = entry.shape;
      const compares = times >= SETTLED && !entry.hasDrifted;
      const { hasChanged, difference } = observe(value, entry.shape, { caller, compares });
      if (hasChanged) entry.schemas = new WeakMap();
      if (difference === undefined || !shouldReport(method)) return undefined;
      const place = difference.place === "" ? "" : ` at ${difference.place}`;
      return `The result of ${method.path} differs from the ${times} before it${place}: ${difference.says}`;
    },
    shouldReport,
    observed(caller, method) {
      if (method.output !== undefined) return undefined;
      const entry = seen(method);
      if (entry === undefined || entry.shape.times === 0) return undefined;
      const schema = entry.schemas.get(caller) ?? schemaOf(entry.shape, caller);
      entry.schemas.set(caller, schema);
      return { schema, times: entry.shape.times };
    },
    forget(path) {
      if (path === undefined) methods.clear();
      else methods.delete(path);
    },
    get paths() {
      return [...methods.keys()];
    },
  };
}

/** A method that was loaded again is the same as long as it takes and promises the same. */
function isSame(before: Method, after: Method): boolean {
  if (before === after) return true;
  const facts = ({ input, output, metadata }: Method): string => JSON.stringify([input, output, metadata.version]);
  return facts(before) === facts(after);
}
