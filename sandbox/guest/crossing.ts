import { base64OfBytes, bytesOfBase64 } from "./bytes.ts";
import {
  apply,
  bigintText,
  create,
  define,
  defineProperty,
  getPrototypeOf,
  mapForEach,
  mapGet,
  mapSet,
  NativeString,
  ownKeys,
  setForEach,
  stringify,
  then,
} from "./primordials.ts";

/**
 * What crosses the wall is JSON. While `crossing` is on, values that JSON would drop or refuse say what they are:
 * bytes become `{"$bytes": base64}`, other typed arrays a list of numbers, a Map with text keys an object, other Maps
 * a list of pairs, a Set a list, a BigInt a number where that is exact and else text, an Error its name and message,
 * and a promise what it settles to. At any other time `JSON.stringify` behaves in the snippet as the language says.
 */
let crossing = false;
let pending: Promise<unknown>[] = [];
let settled = new Map<unknown, unknown>();

/** JSON of a value; `undefined` where JSON has no word for it. Promises in it count as null. */
export function encode(value: unknown): string | undefined {
  crossing = true;
  try {
    return stringify(value);
  } finally {
    crossing = false;
  }
}

/** Encodes a value after every promise inside it has settled, and what those settle to, and so on. */
export function encodeSettled(
  value: unknown,
  done: (json: string | undefined) => void,
  fail: (reason: unknown) => void,
  known = new NativeMap<unknown, unknown>(),
): void {
  pending = [];
  settled = known;
  let json: string | undefined;
  try {
    json = encode(value);
  } catch (reason) {
    fail(reason);
    return;
  }
  const waiting = pending;
  let left = waiting.length;
  if (left === 0) {
    done(json);
    return;
  }
  const again = (promise: Promise<unknown>, result: unknown): void => {
    mapSet(known, promise, { value: result });
    if (--left === 0) encodeSettled(value, done, fail, known);
  };
  for (let i = 0; i < waiting.length; i++) {
    const promise = waiting[i] as Promise<unknown>;
    void then(promise, (result) => again(promise, result), fail);
  }
}

/** Turns `{"$bytes": base64}` and `{"$date": iso}` of an answer back into bytes and dates, in place. */
export function revive(value: unknown): unknown {
  if (typeof value !== "object" || value === null) return value;
  const keys = ownKeys(value);
  if (keys.length === 1) {
    const text = (value as Record<PropertyKey, unknown>)[keys[0] as string];
    if (typeof text === "string" && keys[0] === "$bytes") return bytesOfBase64(text);
    if (typeof text === "string" && keys[0] === "$date") return new NativeDate(text);
  }
  for (let i = 0; i < keys.length; i++) {
    const key = keys[i] as string;
    const member = (value as Record<PropertyKey, unknown>)[key];
    if (typeof member === "object" && member !== null) data(value, key, revive(member));
  }
  return value;
}

/** Teaches the builtins their words for the wall. Runs once, before the image is taken. */
export function teachCrossing(): void {
  teach(Map.prototype, (map: Map<unknown, unknown>) => (hasTextKeys(map) ? objectOfMap(map) : pairsOfMap(map)));
  teach(Set.prototype, listOfSet);
  teach(BigInt.prototype, numberOrText);
  teach(getPrototypeOf(Uint8Array.prototype) as object, (view: Uint8Array) => {
    if (getPrototypeOf(view) !== NativeBytes.prototype) return listOfNumbers(view);
    return { $bytes: base64OfBytes(view) };
  });
  teach(ArrayBuffer.prototype, (buffer: ArrayBuffer) => ({ $bytes: base64OfBytes(new NativeBytes(buffer)) }));
  teach(Error.prototype, (error: Error) => ({ name: NativeString(error.name), message: NativeString(error.message) }));
  teach(Promise.prototype, (promise: Promise<unknown>) => {
    const known = mapGet(settled, promise) as { value: unknown } | undefined;
    if (known !== undefined) return known.value;
    push(pending, promise);
    return null;
  });
}

/** Appends without `Array.prototype.push`, which a snippet may have replaced or given setters to trip over. */
export function push(list: unknown[], item: unknown): void {
  data(list, list.length, item);
}

/** Sets an own property, whatever the prototype says of that name. */
export function data(target: object, name: PropertyKey, value: unknown): void {
  defineProperty(target, name, {
    __proto__: null,
    value,
    enumerable: true,
    writable: true,
    configurable: true,
  } as PropertyDescriptor);
}

const NativeBytes = Uint8Array;
const NativeMap = Map;
const NativeDate = Date;
const NativeNumber = Number;
const valueOfBigInt = BigInt.prototype.valueOf;

function teach<Value>(prototype: object, word: (value: Value) => unknown): void {
  define(prototype, "toJSON", function toJSON(this: Value): unknown {
    return crossing ? word(this) : this;
  });
}

function hasTextKeys(map: Map<unknown, unknown>): boolean {
  let text = true;
  mapForEach(map, (_, key) => {
    if (typeof key !== "string") text = false;
  });
  return text;
}

function objectOfMap(map: Map<unknown, unknown>): object {
  const object = create(null) as object;
  mapForEach(map, (value, key) => data(object, key as string, value));
  return object;
}

function pairsOfMap(map: Map<unknown, unknown>): unknown[] {
  const pairs: unknown[] = [];
  mapForEach(map, (value, key) => push(pairs, [key, value]));
  return pairs;
}

function listOfSet(set: Set<unknown>): unknown[] {
  const list: unknown[] = [];
  setForEach(set, (item) => push(list, item));
  return list;
}

function listOfNumbers(view: ArrayLike<number>): unknown[] {
  const list: unknown[] = [];
  for (let i = 0; i < view.length; i++) push(list, view[i]);
  return list;
}

function numberOrText(big: bigint): number | string {
  const value = apply(valueOfBigInt, big, []) as bigint;
  const number = NativeNumber(value);
  return number >= -9_007_199_254_740_991 && number <= 9_007_199_254_740_991 ? number : bigintText(value);
}
