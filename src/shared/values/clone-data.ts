import { types } from "node:util";

import { getMessage } from "../../errors.ts";
import { MAX_DEPTH, MAX_VALUES } from "./value-size.ts";

/** The reason why a result cannot leave its process, as the end of a sentence: `did not return plain data: …`. */
export class NotCloneable extends Error {
  override readonly name = "NotPlain";
}

/** A result with too many levels, or a `toJSON` that never ends. */
export class NestedTooDeeply extends Error {
  override readonly name = "NestedTooDeeply";
}

/**
 * Converts a result to plain data; applies `toJSON` methods. Structured cloning alone would silently drop the private
 * state of objects such as a URL or a Response. Throws `NotCloneable`, or `NestedTooDeeply`.
 */
export function cloneData(result: unknown): unknown {
  return toPlainData(result).data;
}

export interface PlainData {
  readonly data: unknown;
  /** True if JSON has the same data: a tree without NaN, Infinity, -0, undefined and integers of any size. */
  readonly isJson: boolean;
}

/** Converts a result as `cloneData` does, and finds whether a JSON text of less than 64 MB can carry it. */
export function toPlainData(result: unknown): PlainData {
  try {
    const walk = { values: MAX_PLAIN, characters: MAX_JSON_CHARACTERS, isJson: true };
    if (isSurelyPlain(result, walk)) return { data: result, isJson: walk.isJson && walk.characters >= 0 };
    return { data: new CloneWalk().plain(result, "result"), isJson: false };
  } catch (error) {
    throw error instanceof RangeError ? new NestedTooDeeply() : error;
  }
}

/** Values that are looked at for whether all are plain: shared parts count each time. */
const MAX_PLAIN = 200_000;

/** Characters of texts and names in a value that is sent as JSON; escaped, each can take six. */
const MAX_JSON_CHARACTERS = 4 << 20;

/** Counts what is left to look at, and notes whether JSON has all that was seen. */
interface PlainWalk {
  values: number;
  characters: number;
  isJson: boolean;
}

/** True for most results: those in which the walk would change nothing. */
function isSurelyPlain(result: unknown, walk: PlainWalk): boolean {
  try {
    return isPlain(result, MAX_DEPTH, walk);
  } catch {
    return false; // a getter failed: the walk tells its place
  }
}

/** True if a value is a tree of plain lists and objects of at most `levels` levels, without a `toJSON`. */
function isPlain(value: unknown, levels: number, walk: PlainWalk): boolean {
  if (typeof value !== "object" || value === null) {
    if (typeof value === "string") walk.characters -= value.length;
    else walk.isJson &&= isInJson(value);
    return typeof value !== "function" && typeof value !== "symbol";
  }
  if (levels === 0 || types.isProxy(value)) return false;
  if (Array.isArray(value)) return isPlainList(value, levels - 1, walk);
  if (isClassInstance(value) || "toJSON" in value) return false;
  return hasPlainMembers(value as Readonly<Record<string, unknown>>, levels - 1, walk);
}

function isPlainList(list: readonly unknown[], levels: number, walk: PlainWalk): boolean {
  walk.values -= list.length;
  if (walk.values < 0) return false;
  walk.isJson &&= !("toJSON" in list);
  for (const member of list) if (!isPlain(member, levels, walk)) return false;
  return true;
}

function hasPlainMembers(object: Readonly<Record<string, unknown>>, levels: number, walk: PlainWalk): boolean {
  const names = Object.keys(object);
  walk.values -= names.length;
  if (walk.values < 0) return false;
  for (const name of names) {
    walk.characters -= name.length;
    if (!isPlain(object[name], levels, walk)) return false;
  }
  return true;
}

/** True if JSON has exactly this value, which is no text. */
function isInJson(value: unknown): boolean {
  if (typeof value === "number") return Number.isFinite(value) && !Object.is(value, -0);
  return typeof value === "boolean" || value === null;
}

const CYCLE = "refers back to a value that contains it (a cycle); return only the members that are needed";

const UNFINISHED = Symbol("unfinished");

/** Walks through one value. Copies only objects in which something changes. */
class CloneWalk {
  readonly #names: (string | number)[] = [];
  readonly #clones = new Map<object, unknown>();

  plain(value: unknown, name: string | number): unknown {
    if (typeof value === "function" || typeof value === "symbol") throw this.#refusal(`is a ${typeof value}`, name);
    if (typeof value !== "object" || value === null) return value;
    if (this.#clones.has(value)) {
      const existing = this.#clones.get(value);
      if (existing === UNFINISHED) throw this.#refusal(CYCLE, name);
      return existing;
    }
    if (this.#names.length >= MAX_DEPTH) throw new NestedTooDeeply();
    this.#clones.set(value, UNFINISHED);
    this.#names.push(name);
    const clone = this.#object(value);
    this.#names.pop();
    this.#clones.set(value, clone);
    return clone;
  }

  #object(value: object): unknown {
    if (types.isProxy(value)) throw this.#refusal("is a Proxy");
    if (Array.isArray(value)) return this.#list(value);
    if (!isClassInstance(value)) return this.#fields(value);
    if (CLONED.some((isIt) => isIt(value))) return value;
    // Cloning would drop the members that the program of a skill adds, such as a code.
    if (types.isNativeError(value))
      return this.#fields(Object.assign({}, value, { name: value.name, message: value.message }));
    if (types.isBoxedPrimitive(value)) return this.plain(value.valueOf(), "valueOf()");
    const foreign = FOREIGN.find(([isIt]) => isIt(value));
    if (foreign !== undefined) throw this.#refusal(foreign[1]);
    if (value instanceof Set) return new Set(this.#list([...value]));
    if (!(value instanceof Map)) return this.#fields(value);
    const values = this.#list([...value.values()]);
    return new Map(this.#list([...value.keys()]).map((key, index) => [key, values[index]]));
  }

  #list(list: readonly unknown[]): readonly unknown[] {
    // The size limit refuses this list later; visiting it first, holes included, takes long.
    if (list.length > MAX_VALUES) return list;
    const items = list.map((member, index) => this.plain(member, index));
    return items.every((member, index) => member === list[index]) ? list : items;
  }

  #fields(value: object): unknown {
    const write = this.#read(value, "toJSON");
    if (typeof write === "function") return this.plain(Reflect.apply(write, value, []), "toJSON()");
    const keys = Object.keys(value);
    if (keys.length === 0 && isClassInstance(value))
      throw this.#refusal(`is ${describeObject(value)} that holds no plain data`);
    const fields = keys.map((key) => this.#read(value, key));
    const values = fields.map((field, index) => this.plain(field, keys[index] ?? ""));
    if (values.every((field, index) => field === fields[index])) return value;
    return Object.fromEntries(keys.map((key, index) => [key, values[index]]));
  }

  #read(holder: object, key: string): unknown {
    try {
      return Reflect.get(holder, key);
    } catch (error) {
      throw this.#refusal(`cannot be read: ${getMessage(error)}`, key);
    }
  }

  #refusal(why: string, ...name: readonly (string | number)[]): NotCloneable {
    const [root, ...rest] = [...this.#names, ...name];
    const where = rest.map((each) => (typeof each === "number" ? `[${each}]` : `.${each}`)).join("");
    return new NotCloneable(`"${root}${where}" ${why}`);
  }
}

function isClassInstance(value: object): boolean {
  const prototype: unknown = Object.getPrototypeOf(value);
  return prototype !== null && prototype !== Object.prototype;
}

function describeObject(value: object): string {
  const { constructor } = value;
  return typeof constructor === "function" && constructor.name !== ""
    ? `an object of ${constructor.name}`
    : "an object";
}

type TypeTest = (value: object) => boolean;

/** Types that structured cloning supports. */
const CLONED: readonly TypeTest[] = [
  types.isDate,
  types.isRegExp,
  types.isArrayBuffer,
  (value) => ArrayBuffer.isView(value),
];

/** Types that are never data, each with the message and the fix. */
const FOREIGN: readonly (readonly [TypeTest, string])[] = [
  [types.isPromise, "is a promise; await it"],
  [types.isGeneratorObject, "is a generator; return an array"],
  [
    (value) => value instanceof WeakMap || value instanceof WeakSet || value instanceof WeakRef,
    "holds its content weakly",
  ],
];
