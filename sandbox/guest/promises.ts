import { create, define, freeze, getPrototypeOf, NativeTypeError, reflectGet } from "./primordials.ts";

/** Stands between promises and what all objects have. */
const ROOT = {};
const PROMISE = Promise.prototype;
const LISTING: readonly unknown[] = [Symbol.iterator, Symbol.asyncIterator];

/**
 * A promise as a text or number, or a member of it that no promise has, is always a forgotten await: better an error than
 * "[object Promise]", and better than an undefined that nobody notices. Runs once, before the image is taken.
 */
export function refusePromisesAsValues(): void {
  define(PROMISE, Symbol.toPrimitive, function toPrimitive(): never {
    throw new NativeTypeError("Cannot use a promise as a value: write await before it");
  });
  const traps = create(null) as ProxyHandler<object>;
  traps.get = (_, key, receiver) => {
    // Classes of the snippet that extend Promise have members of their own.
    if (!(key in ROOT) && getPrototypeOf(receiver) === PROMISE) refuse(key);
    return reflectGet(ROOT, key, receiver) as unknown;
  };
  traps.has = (_, key) => {
    if (!(key in ROOT)) refuse(key);
    return key in ROOT;
  };
  Object.setPrototypeOf(PROMISE, new Proxy(ROOT, freeze(traps)));
}

/** The language itself asks for members that are named by symbols; of these, only lists are what a snippet means. */
function refuse(key: PropertyKey): void {
  if (typeof key === "string")
    throw new NativeTypeError(
      `Cannot read "${key}" of a promise: write await before the call, and brackets around both`,
    );
  for (let i = 0; i < LISTING.length; i++)
    if (LISTING[i] === key) throw new NativeTypeError("Cannot go through a promise: write await before it");
}
