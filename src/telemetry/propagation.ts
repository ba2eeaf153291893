import { findApi } from "./api.ts";
import type { TraceContext } from "./spans.ts";

/** Names and values that travel beside a message: HTTP headers, the `_meta` of MCP, headers of a message queue. */
export type Carrier = Readonly<Record<string, unknown>>;

/** Longer values are ignored. W3C Baggage allows 8,192 bytes. */
const MAX_FIELD_UNITS = 8_192;

/**
 * Reads the trace context that the sender of a message has sent with it, by default in `traceparent`, `tracestate` and
 * `baggage`. Returns `undefined` if it has sent none, if it is malformed, and without an SDK.
 */
export function extractContext(carrier: Carrier | undefined): TraceContext | undefined {
  const api = findApi();
  if (carrier === undefined || api === undefined) return undefined;
  if (!api.propagation.fields().some((field) => Object.hasOwn(carrier, field))) return undefined;
  const context = api.propagation.extract(api.ROOT_CONTEXT, carrier, GETTER);
  return context === api.ROOT_CONTEXT ? undefined : context;
}

const GETTER = {
  keys: (carrier: Carrier): string[] => Object.keys(carrier),
  get(carrier: Carrier, key: string): string | undefined {
    const value = Object.hasOwn(carrier, key) ? carrier[key] : undefined;
    return typeof value === "string" && value.length <= MAX_FIELD_UNITS ? value : undefined;
  },
};

/** Returns the fields that hand a context, by default the active one, to the receiver of a message. Empty without an SDK. */
export function injectContext(context?: TraceContext): Record<string, string> {
  const fields: Record<string, string> = {};
  const api = findApi();
  api?.propagation.inject(context ?? api.context.active(), fields);
  return fields;
}

/** Returns the context that work is done in now; `undefined` without an SDK. */
export function getActiveContext(): TraceContext | undefined {
  return findApi()?.context.active();
}

/** Runs work in a context; in the active one if it is `undefined`. */
export function runInContext<Value>(context: TraceContext | undefined, work: () => Value): Value {
  const api = findApi();
  return api === undefined || context === undefined ? work() : api.context.with(context, work);
}
