import { host } from "./host.ts";
import { OP } from "./host-protocol.ts";
import { getPrototypeOf, weakGet, weakSet } from "./primordials.ts";

const PROMISE = Promise.prototype;
/** Ids of calls by promise: only its answer settles a call's promise, so no other code has to run. */
const callIds = new WeakMap<object, number>();

/** Id of the only call whose answer is waited for; 0 if the other code continues meanwhile. */
let awaitedId = 0;

export function wantedCall(): number {
  return awaitedId;
}

export function rememberCall(promise: object, id: number): void {
  weakSet(callIds, promise, id);
}

export function isPromise(value: unknown): value is object {
  return typeof value === "object" && value !== null && getPrototypeOf(value) === PROMISE;
}

/**
 * Returns the value of a promise: the program blocks until the promise is settled; its other async functions continue
 * meanwhile, unless the promise is a call's. Throws the rejection. Returns any other value unchanged.
 */
export function touch(value: unknown): unknown {
  if (!isPromise(value)) return value;
  const outer = awaitedId;
  awaitedId = weakGet(callIds, value) ?? 0;
  try {
    return host(OP.settle, awaitedId, "", value);
  } finally {
    awaitedId = outer;
  }
}
