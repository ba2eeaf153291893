/**
 * The builtins that the guest's own code uses, taken before any program can change them. Code in this folder must not use
 * a global or a method of a prototype after it has started: a program may have replaced it.
 */
export const { stringify, parse } = JSON;
export const { apply, construct, defineProperty, get: reflectGet, ownKeys, set: reflectSet, setPrototypeOf } = Reflect;
export const { freeze, create, getPrototypeOf } = Object;
export const { isArray } = Array;
export const NativeBoolean = Boolean;
export const NativeError = Error;
export const NativePromise = Promise;
export const NativeString = String;
export const NativeTypeError = TypeError;

/** Turns a method of a prototype into a function whose first argument is the receiver. */
export const uncurry = Function.prototype.bind.bind(Function.prototype.call) as <This, Args extends unknown[], Result>(
  method: (this: This, ...args: Args) => Result,
) => (receiver: This, ...args: Args) => Result;

export const then = uncurry(Promise.prototype.then) as (
  promise: Promise<unknown>,
  fulfilled: (value: unknown) => unknown,
  rejected: (reason: unknown) => unknown,
) => Promise<unknown>;
export const mapGet = uncurry(Map.prototype.get) as (map: ReadonlyMap<unknown, unknown>, key: unknown) => unknown;
export const mapSet = uncurry(Map.prototype.set) as (
  map: Map<unknown, unknown>,
  key: unknown,
  value: unknown,
) => unknown;
export const mapForEach = uncurry(Map.prototype.forEach) as (
  map: ReadonlyMap<unknown, unknown>,
  visit: (value: unknown, key: unknown) => void,
) => void;
export const setForEach = uncurry(Set.prototype.forEach) as (
  set: ReadonlySet<unknown>,
  visit: (value: unknown) => void,
) => void;
export const bind = uncurry(Function.prototype.bind) as (
  target: (...args: never[]) => unknown,
  self: unknown,
  ...args: readonly unknown[]
) => () => unknown;
export const subarray = uncurry(Uint8Array.prototype.subarray) as (
  bytes: Uint8Array,
  from: number,
  to: number,
) => Uint8Array;
export const weakGet = uncurry(WeakMap.prototype.get) as (
  map: WeakMap<object, number>,
  key: object,
) => number | undefined;
export const weakSet = uncurry(WeakMap.prototype.set) as (
  map: WeakMap<object, number>,
  key: object,
  value: number,
) => void;
export const isoString = uncurry(Date.prototype.toISOString) as (date: Date) => string;
export const slice = uncurry(String.prototype.slice) as (text: string, from: number, to?: number) => string;
export const indexOf = uncurry(String.prototype.indexOf) as (text: string, part: string, from: number) => number;
/** Returns the text with U+FFFD for each lone surrogate. */
export const wellFormed = uncurry(
  (String.prototype as unknown as { readonly toWellFormed: (this: string) => string }).toWellFormed,
);
export const charCodeAt = uncurry(String.prototype.charCodeAt) as (text: string, at: number) => number;
export const functionText = uncurry(Function.prototype.toString) as (callable: object) => string;
export const symbolText = uncurry(Symbol.prototype.toString) as (symbol: symbol) => string;
export const bigintText = uncurry(BigInt.prototype.toString) as (value: bigint) => string;
export const fromCharCode = String.fromCharCode;

/** Defines a property that a program cannot enumerate, change or remove. */
export function fix(target: object, name: PropertyKey, value: unknown): void {
  describe(target, name, value, FIXED);
}

/** Defines a property as builtins have them: not enumerable, but a program may replace it. */
export function define(target: object, name: PropertyKey, value: unknown): void {
  describe(target, name, value, HIDDEN);
}

/** Sets an own property, without calling setters of the prototype. */
export function data(target: object, name: PropertyKey, value: unknown): void {
  describe(target, name, value, PLAIN);
}

/** Descriptors are reused, because creating one takes as long as using it. They hold a value only during the use. */
type Descriptor = { __proto__: null; value: unknown; writable: boolean; enumerable: boolean; configurable: boolean };
const FIXED: Descriptor = { __proto__: null, value: 0, writable: false, enumerable: false, configurable: false };
const HIDDEN: Descriptor = { __proto__: null, value: 0, writable: true, enumerable: false, configurable: true };
const PLAIN: Descriptor = { __proto__: null, value: 0, writable: true, enumerable: true, configurable: true };

function describe(target: object, name: PropertyKey, value: unknown, descriptor: Descriptor): void {
  descriptor.value = value;
  defineProperty(target, name, descriptor);
  descriptor.value = 0;
}
