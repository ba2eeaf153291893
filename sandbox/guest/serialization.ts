import { base64ToBytes, bytesToBase64 } from "./bytes.ts";
import { DATE_TAG, MAX_DEPTH, NESTED } from "./host-protocol.ts";
import { host } from "./host.ts";
import {
  apply,
  bigintText,
  create,
  data,
  define,
  freeze,
  getPrototypeOf,
  isoString,
  mapForEach,
  mapGet,
  mapSet,
  NativeString,
  NativeTypeError,
  ownKeys,
  setForEach,
  stringify,
  then,
} from "./primordials.ts";
import { isPromise, touch } from "./touch.ts";

/**
 * State of one serialization. Values cross the boundary as JSON; those that JSON would drop or refuse are converted:
 * bytes become `{"$bytes": base64}`, other typed arrays a list of numbers, a Map with text keys an object, other Maps
 * a list of pairs, a Set a list, a BigInt a number where that is exact and else text, an Error its name and message,
 * and a promise the value that it settles to. A date becomes `{"$date": iso}` unless its `toJSON` was changed, and any other
 * value under that name is put in a list. Outside of a serialization, `JSON.stringify` behaves as the language defines.
 */
interface Crossing {
  /** Promises found that are not among the settled ones. */
  readonly pending: Promise<unknown>[];
  /** Values of settled promises, if any were waited for: `{value}` by promise. */
  readonly settled: ReadonlyMap<unknown, unknown> | undefined;
}

let crossing: Crossing | undefined;
let rawValues = true;
/** True if the host has found that the value to send is nested too deeply, or may be. */
let seemsNested = false;

/** Sets whether values may be sent raw. They may not if the program may define a `toJSON`. */
export function allowRaw(allowed: boolean): void {
  rawValues = allowed;
}

/** Sends a value raw, which is much faster than JSON. Returns false if it must be sent as JSON. */
export function sendRaw(op: number, id: number, name: string, value: unknown, promise?: object): boolean {
  if (!rawValues) return false;
  const answer = host(op, id, name, value, 1, promise);
  seemsNested = answer === NESTED;
  return answer !== "" && !seemsNested;
}

/** Converts a value to JSON without waiting, dates as texts: a promise in it is an error. */
export function encode(value: unknown): string | undefined {
  const { json, pending } = cross(value, undefined, "text");
  if (pending.length > 0) throw new NativeTypeError("Cannot use a promise as a value here: await it first");
  return json;
}

/** Requires that the arguments of a call have JSON: a `toJSON` of the program may return undefined. */
export function requireJson(json: string | undefined): string {
  if (typeof json === "string") return json;
  throw new NativeTypeError("Cannot pass these arguments: their toJSON returns undefined; pass plain data");
}

/** Encodes a value after every promise inside it has settled, and every promise inside those values. */
export function encodeSettled(
  value: unknown,
  done: (json: string | undefined) => void,
  fail: (reason: unknown) => void,
  settledValues?: Map<unknown, unknown>,
): void {
  let crossed: ReturnType<typeof cross>;
  try {
    crossed = cross(value, settledValues, "tagged");
  } catch (reason) {
    fail(reason);
    return;
  }
  const { json, pending } = crossed;
  let unsettled = pending.length;
  if (unsettled === 0) {
    done(json);
    return;
  }
  const settled = settledValues ?? new NativeMap<unknown, unknown>();
  const again = (promise: Promise<unknown>, result: unknown): void => {
    mapSet(settled, promise, { value: result });
    if (--unsettled === 0) encodeSettled(value, done, fail, settled);
  };
  for (let i = 0; i < pending.length; i++) {
    const promise = pending[i] as Promise<unknown>;
    void then(promise, (result) => again(promise, result), fail);
  }
}

/** Serializes a value. Its own code may run meanwhile and start another serialization. */
function cross(
  value: unknown,
  settled: Crossing["settled"],
  datesAs: "tagged" | "text",
): { readonly json: string | undefined; readonly pending: readonly Promise<unknown>[] } {
  if (seemsNested && isTooDeep(value)) throw nestingError();
  const outer = crossing;
  const pending: Promise<unknown>[] = [];
  crossing = { pending, settled };
  try {
    return { json: stringify(value, datesAs === "tagged" ? tagDates(settled) : undefined), pending };
  } catch (error) {
    throw (error as Error | undefined)?.name === "InternalError" && isTooDeep(value) ? nestingError() : error;
  } finally {
    crossing = outer;
  }
}

/** Prototype of a date's tag, which distinguishes it from a program's object with that name. */
const TAG = freeze(create(null)) as object;

/** Creates a replacer for `JSON.stringify` that tags dates. It receives a date as the ISO text of its `toJSON`. */
function tagDates(settled: Crossing["settled"]) {
  return function replace(this: Record<string, unknown>, key: string, value: unknown): unknown {
    if (typeof value === "string") {
      const word =
        value.length >= MIN_ISO_LENGTH && isDateText(this[key], value, settled) ? createDateTag(value) : value;
      return key === DATE_TAG && getPrototypeOf(this) !== TAG ? [word] : word;
    }
    const isData = value !== undefined && typeof value !== "function" && typeof value !== "symbol";
    return key === DATE_TAG && isData ? [value] : value;
  };
}

const MIN_ISO_LENGTH = 24;

/** Tests whether a text is the ISO text of a member that is a date, or a promise that has settled to one. */
function isDateText(member: unknown, text: string, settled: Crossing["settled"]): boolean {
  if (typeof member !== "object" || member === null) return false;
  const result = settled && (mapGet(settled, member) as { value: unknown } | undefined);
  try {
    return isoString((result === undefined ? member : result.value) as Date) === text;
  } catch {
    return false; // not a date
  }
}

function createDateTag(iso: string): object {
  const tag = create(TAG) as object;
  data(tag, DATE_TAG, iso);
  return tag;
}

/** Replaces `{"$bytes": base64}`, `{"$date": iso}` and `{"$undefined": 1}` in an answer by their values, in place. */
export function revive(value: unknown): unknown {
  if (typeof value !== "object" || value === null) return value;
  const keys = ownKeys(value);
  if (keys.length === 1) {
    const text = (value as Record<PropertyKey, unknown>)[keys[0] as string];
    if (typeof text === "string" && keys[0] === "$bytes") return base64ToBytes(text);
    if (typeof text === "string" && keys[0] === "$date") return new NativeDate(text);
    if (keys[0] === "$undefined" && (text as unknown) === 1) return undefined;
  }
  for (let i = 0; i < keys.length; i++) {
    const key = keys[i] as string;
    const member = (value as Record<PropertyKey, unknown>)[key];
    if (typeof member === "object" && member !== null) data(value, key, revive(member));
  }
  return value;
}

/** Gives the builtins a `toJSON` for serialization. Runs once, before the snapshot is taken. */
export function installToJson(): void {
  teach(Map.prototype, (map: Map<unknown, unknown>) => (hasTextKeys(map) ? mapToObject(map) : mapToPairs(map)));
  teach(Set.prototype, setToArray);
  teach(BigInt.prototype, numberOrText);
  teach(getPrototypeOf(Uint8Array.prototype) as object, (view: Uint8Array) => {
    if (getPrototypeOf(view) !== NativeBytes.prototype) return numbersToArray(view);
    return { $bytes: bytesToBase64(view) };
  });
  teach(ArrayBuffer.prototype, (buffer: ArrayBuffer) => ({ $bytes: bytesToBase64(new NativeBytes(buffer)) }));
  teach(Error.prototype, (error: Error) => ({ name: NativeString(error.name), message: NativeString(error.message) }));
  teach(Promise.prototype, serializePromise);
}

function serializePromise(promise: Promise<unknown>, { settled, pending }: Crossing): unknown {
  const result = settled && (mapGet(settled, promise) as { value: unknown } | undefined);
  if (result !== undefined) return applyToJson(result.value);
  push(pending, promise);
  return null;
}

/** Applies a settled value's own `toJSON`: `JSON.stringify` has called the promise's and calls no second one. */
function applyToJson(value: unknown): unknown {
  if ((typeof value !== "object" && typeof value !== "bigint") || value === null) return value;
  const { toJSON } = value as { readonly toJSON?: unknown };
  return typeof toJSON === "function" ? apply(toJSON as () => unknown, value, [""]) : value;
}

/** Appends without `Array.prototype.push`, which a program may have replaced or given setters to trip over. */
export function push(list: unknown[], item: unknown): void {
  data(list, list.length, item);
}

const NativeBytes = Uint8Array;
const NativeMap = Map;
const NativeDate = Date;
const NativeNumber = Number;
const bigIntValueOf = BigInt.prototype.valueOf;

/** Gives a prototype a `toJSON` that is used only for values that cross the boundary. */
export function teach<Value>(prototype: object, word: (value: Value, crossing: Crossing) => unknown): void {
  define(prototype, "toJSON", function toJSON(this: Value): unknown {
    if (crossing !== undefined) return word(this, crossing);
    return isPromise(this) ? applyToJson(touch(this)) : this;
  });
}

function hasTextKeys(map: Map<unknown, unknown>): boolean {
  let text = true;
  mapForEach(map, (_, key) => {
    if (typeof key !== "string") text = false;
  });
  return text;
}

function mapToObject(map: Map<unknown, unknown>): object {
  const object = create(null) as object;
  mapForEach(map, (value, key) => data(object, key as string, value));
  return object;
}

function mapToPairs(map: Map<unknown, unknown>): unknown[] {
  const pairs: unknown[] = [];
  mapForEach(map, (value, key) => push(pairs, [key, value]));
  return pairs;
}

function setToArray(set: Set<unknown>): unknown[] {
  const list: unknown[] = [];
  setForEach(set, (item) => push(list, item));
  return list;
}

function numbersToArray(view: ArrayLike<number>): unknown[] {
  const list: unknown[] = [];
  for (let i = 0; i < view.length; i++) push(list, view[i]);
  return list;
}

function numberOrText(big: bigint): number | string {
  const value = apply(bigIntValueOf, big, []) as bigint;
  const number = NativeNumber(value);
  return number >= -9_007_199_254_740_991 && number <= 9_007_199_254_740_991 ? number : bigintText(value);
}

/** Tests whether a value has more levels than `MAX_DEPTH`. Reading it may run code of the program. */
function isTooDeep(value: unknown): boolean {
  const pending = create(null) as Record<number, unknown>;
  const depths = create(null) as Record<number, number>;
  pending[0] = value;
  depths[0] = 1;
  for (let top = 0; top >= 0;) {
    const current = pending[top];
    const depth = depths[top--] as number;
    if (typeof current !== "object" || current === null) continue;
    if (depth > MAX_DEPTH) return true;
    const keys = ownKeys(current);
    for (let i = 0; i < keys.length; i++) {
      pending[++top] = (current as Record<PropertyKey, unknown>)[keys[i] as string];
      depths[top] = depth + 1;
    }
  }
  return false;
}

function nestingError(): Error {
  const error = new NativeTypeError(
    `The value is nested too deeply: it has more than ${MAX_DEPTH} levels (NESTING_LIMIT)`,
  );
  define(error, "code", "NESTING_LIMIT");
  return error;
}
