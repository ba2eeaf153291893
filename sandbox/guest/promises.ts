import {
  bind,
  create,
  data,
  define,
  freeze,
  getPrototypeOf,
  isArray,
  NativeBoolean,
  apply,
  reflectGet,
  reflectSet,
} from "./primordials.ts";
import { isPromise, touch } from "./touch.ts";

/** Target of the proxy between `Promise.prototype` and `Object.prototype`. */
const ROOT = {};
const PROMISE = Promise.prototype;
const SPREADABLE = Symbol.isConcatSpreadable;
const MAP = Map.prototype;
const SET = Set.prototype;

/**
 * Makes promises wait for a forgotten `await`: one that is used as a text, as a number, or for a member that promises do not
 * have, is touched and gives what its value gives. Runs once, before the snapshot is taken.
 */
export function touchPromises(): void {
  define(PROMISE, Symbol.toPrimitive, function toPrimitive(this: unknown, hint: string): unknown {
    const value = touch(this);
    if (value === this) return hint === "number" ? NaN : "[object Promise]"; // of a class that extends Promise
    if (typeof value !== "object" || value === null) return value;
    return hint === "string"
      ? `${value as unknown as string}`
      : hint === "number"
        ? +value
        : (value as unknown as string) + "";
  });
  const traps = create(null) as ProxyHandler<object>;
  traps.get = (_, key, receiver) => {
    // Classes of the program that extend Promise have members of their own.
    if (getPrototypeOf(receiver) !== PROMISE) return reflectGet(ROOT, key, receiver) as unknown;
    const value = touch(receiver) as Record<PropertyKey, unknown>;
    if (value === receiver) return reflectGet(ROOT, key, receiver) as unknown;
    if (key === SPREADABLE) return isArray(value);
    const member = value[key];
    return typeof member === "function" && key !== "constructor" ? bind(member as () => unknown, value) : member;
  };
  traps.set = (_, key, member, receiver) => {
    const value = getPrototypeOf(receiver) === PROMISE ? touch(receiver) : receiver;
    if (value !== receiver) return reflectSet(value as object, key, member);
    data(receiver as object, key, member);
    return true;
  };
  // `concat` tests an index before it reads it; no other operation gets here with an index.
  traps.has = (_, key) => (typeof key === "string" && key >= "0" && key < ":") || key in ROOT;
  Object.setPrototypeOf(PROMISE, new Proxy(ROOT, freeze(traps)));
}

/** Touches a list and its items. */
export function touchAll(value: unknown): unknown {
  const list = touch(value);
  if (!isArray(list)) return list;
  let copy: unknown[] | undefined;
  for (let i = 0; i < list.length; i++) {
    if (!isPromise(list[i])) continue;
    if (copy === undefined) copy = copyList(list);
    data(copy, i, touch(list[i]));
  }
  return copy ?? list;
}

function copyList(list: readonly unknown[]): unknown[] {
  const copy: unknown[] = [];
  for (let i = 0; i < list.length; i++) data(copy, i, list[i]);
  return copy;
}

/** Wraps a callback whose result is tested or discarded, so that the result is touched. */
export function tested(callback: unknown): unknown {
  if (typeof callback !== "function") return callback;
  const isBuiltin = callback === NativeBoolean;
  return function (this: unknown, ...args: unknown[]): unknown {
    if (isBuiltin) return !!touch(args[0]);
    return touch(apply(callback as () => unknown, this, args));
  };
}

/** Searches a list, set or map: for the argument itself first, then for its settled value among settled values. */
export function seek(holder: unknown, name: string, ...args: unknown[]): unknown {
  const within = touch(holder) as Record<string, (...args: unknown[]) => unknown>;
  const find = within[name] as (...args: unknown[]) => unknown;
  const found = apply(find, within, args);
  if (found !== false && found !== undefined && found !== -1) return found;
  const what = touch(args[0]);
  const all = isArray(within) ? (touchAll(within) as typeof within) : within;
  const proto: unknown = getPrototypeOf(within);
  const isPlain = isArray(within) || proto === MAP || proto === SET;
  if (!isPlain || (what === args[0] && all === within)) return found;
  args[0] = what;
  return apply(all[name] as typeof find, all, args);
}
