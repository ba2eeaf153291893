import { host } from "./host.ts";
import { OP } from "./host-protocol.ts";
import { getPrototypeOf, weakGet, weakSet } from "./primordials.ts";

const PROMISE = Promise.prototype;
/** The promises of calls, and the numbers of the calls: only their answers settle them, so that no other code has to run. */
const callOf = new WeakMap<object, number>();

/** The call whose answer is waited for, and nothing else; 0 if the other code goes on meanwhile. */
let wanted = 0;

export function wantedCall(): number {
  return wanted;
}

export function rememberCall(promise: object, id: number): void {
  weakSet(callOf, promise, id);
}

export function isPromise(value: unknown): value is object {
  return typeof value === "object" && value !== null && getPrototypeOf(value) === PROMISE;
}

/**
 * What a promise settles to: the snippet stands still until it has, and its other async functions go on meanwhile unless the
 * promise is a call's. Throws what it is rejected with. Anything else is what it is.
 */
export function touch(value: unknown): unknown {
  if (!isPromise(value)) return value;
  const outer = wanted;
  wanted = weakGet(callOf, value) ?? 0;
  try {
    return host(OP.settle, wanted, "", value);
  } finally {
    wanted = outer;
  }
}
