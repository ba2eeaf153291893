import type { Caller } from "../model/caller.ts";
import type { Method } from "../model/catalog.ts";
import type { JsonSchema } from "../model/json.ts";
import { setBounded } from "../shared/lru.ts";
import type { InferredOutput } from "../registry/index.ts";
import { schemaOf } from "./shape-schema.ts";
import { createShape, observe, type ValueShape } from "./infer-schema.ts";

/** Methods whose results are remembered; beyond this, the least recently called are forgotten. */
const MAX_METHODS = 1_000;

/** After this many results, a result of another shape is reported. */
const SETTLED = 5;

/** Learns the types and property names of the results of methods, no values. */
export interface InferredResults {
  /** Learns from a caller's result. Reports, once for each method, a result that differs from those before it. */
  returned(caller: Caller, method: Method, value: unknown): string | undefined;
  /** True if no deviation of this method's results has been reported yet. */
  shouldReport(method: Method): boolean;
  /** Returns what a caller may see of the result type, for a method without an output schema. */
  observed(caller: Caller, method: Method): InferredOutput | undefined;
  /** Forgets the results of one method, or of all. */
  forget(path?: string): void;
  readonly paths: readonly string[];
}

interface ObservedMethod {
  /** The method at its last call. */
  method: Method;
  readonly shape: ValueShape;
  /** Cached schemas by caller; discarded when a result changes the shape. */
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

/** A reloaded method is the same if its schemas and its version are unchanged. */
function isSame(before: Method, after: Method): boolean {
  if (before === after) return true;
  const facts = ({ input, output, metadata }: Method): string => JSON.stringify([input, output, metadata.version]);
  return facts(before) === facts(after);
}
