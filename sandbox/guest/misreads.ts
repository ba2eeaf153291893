import { getText } from "./found-methods.ts";
import { host } from "./host.ts";
import { OP } from "./host-protocol.ts";
import {
  charCodeAt,
  create,
  define,
  defineProperty,
  freeze,
  getPrototypeOf,
  indexOf,
  isArray,
  NativeString,
  parse,
  reflectGet,
  setPrototypeOf,
  slice,
  stringify,
  uncurry,
} from "./primordials.ts";
import { push } from "./serialization.ts";
import { isPromise, touch } from "./touch.ts";

const OBJECT = Object.prototype;
const STRING = String.prototype;
const NUMBER = Number.prototype;
const stringValue = uncurry(STRING.valueOf) as (text: object) => string;
const numberValue = uncurry(NUMBER.valueOf) as (number: object) => number;
const NAME_LENGTH = 60;

/** Reports that are still sent; the host keeps fewer, as many are from one place. */
let reportsLeft = 64;
/** Reads of missing members that are still looked at: a proxy takes four times as long, which a long loop would notice. */
let readsLeft = 1_000;

/**
 * Tells the host where a program reads a value as something else: a member that a text or number does not have, and JSON in
 * a value that is no text. The result is what the language defines, except that `JSON.parse` returns a value that is an
 * object or array already. Runs once, before the snapshot is taken.
 */
export function reportMisreads(): void {
  watchMembers(STRING);
  watchMembers(NUMBER);
  define(JSON, "parse", METHODS.parse);
}

/** Symbols that the engine looks for in the arguments of methods of strings: they must not reach the proxy each time. */
const LOOKED_FOR = ["match", "matchAll", "replace", "search", "split"] as const;

/** Inserts a proxy before `Object.prototype`: only a member that the prototype lacks gets there. */
function watchMembers(prototype: object): void {
  const traps = create(null) as ProxyHandler<object>;
  traps.get = (_, key, receiver) => {
    if (key in OBJECT) return reflectGet(OBJECT, key, receiver) as unknown;
    const isName = typeof key === "string" && !(key >= "0" && key < ":");
    if (isName) reportMember(key, receiver);
    if (--readsLeft <= 0 || reportsLeft <= 0) stopWatching();
    return undefined;
  };
  const first = create(new Proxy({}, freeze(traps))) as object;
  for (const name of LOOKED_FOR) define(first, Symbol[name], undefined);
  setPrototypeOf(prototype, freeze(first));
}

function stopWatching(): void {
  setPrototypeOf(STRING, OBJECT);
  setPrototypeOf(NUMBER, OBJECT);
}

function reportMember(key: string, receiver: unknown): void {
  if (key === "then" || key === "toJSON") return; // read to test what a value is
  const name = slice(key, 0, NAME_LENGTH);
  const value = toPrimitive(receiver);
  if (typeof value === "string") report(classifyText(value), name, value.length);
  else if (typeof value === "number") report("number", name, 0);
}

/** Destructuring makes an object of a text or number before it reads the member. */
function toPrimitive(receiver: unknown): unknown {
  if (typeof receiver !== "object" || receiver === null) return receiver;
  const prototype: unknown = getPrototypeOf(receiver);
  if (prototype === STRING && receiver !== STRING) return stringValue(receiver);
  return prototype === NUMBER && receiver !== NUMBER ? numberValue(receiver) : getText(receiver);
}

function classifyText(text: string): "json" | "lines" | "text" {
  const first = charCodeAt(text, 0);
  if (first === 91 || first === 123) return "json";
  return indexOf(text, "\n", 0) < 0 ? "text" : "lines";
}

type Reviver = (key: string, value: unknown) => unknown;

const METHODS = {
  parse(text: unknown, reviver: Reviver): unknown {
    return parseOrKeep(text, reviver);
  },
};

function parseOrKeep(text: unknown, reviver: Reviver): unknown {
  if (typeof text !== "object" || text === null) return parse(text as string, reviver);
  const value = isPromise(text) ? touch(text) : text;
  if (!isPlain(value)) return parse(value as string, reviver);
  let json: string;
  try {
    json = NativeString(value);
  } catch {
    json = ""; // a value without a text
  }
  try {
    return parse(json, reviver);
  } catch {
    report(isArray(value) ? "array" : "object", "", 0);
    return reviver === undefined ? value : parse(stringify(value), reviver);
  }
}

function isPlain(value: unknown): value is object {
  if (typeof value !== "object" || value === null) return false;
  const prototype: unknown = getPrototypeOf(value);
  return isArray(value) || prototype === OBJECT || prototype === null;
}

export function report(of: string, name: string, size: number): void {
  if (reportsLeft <= 0) return;
  reportsLeft--;
  host(OP.misread, size, of, name);
}

const CARRIAGE_RETURN = 13;

/**
 * Gives every text `lines`: an array of its lines without their ends. A text that a method returns as prose, such as a
 * heading above a list, is still a text. Runs once, before the snapshot is taken.
 */
export function defineLines(): void {
  defineProperty(STRING, "lines", {
    get: function lines(this: unknown): readonly string[] | undefined {
      const text = this === STRING ? undefined : toPrimitive(this);
      return typeof text === "string" ? splitLines(text) : undefined;
    },
    enumerable: false,
    configurable: true,
  });
}

function splitLines(text: string): string[] {
  const lines: string[] = [];
  for (let from = 0; from < text.length;) {
    const found = indexOf(text, "\n", from);
    const end = found < 0 ? text.length : found;
    const hasReturn = found > from && charCodeAt(text, end - 1) === CARRIAGE_RETURN;
    push(lines, slice(text, from, hasReturn ? end - 1 : end));
    from = end + 1;
  }
  return lines;
}
