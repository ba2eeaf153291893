import { calculationError, operate, power, powerModulo, toFloat, type Numeric } from "./arithmetic.ts";
import { bitLength } from "./exact.ts";
import { roundInt, roundToInt, roundToPlaces } from "./rounding.ts";

export type Argument = Numeric | readonly Numeric[];

type Callable = (name: string, given: readonly Argument[]) => Numeric;

export const CONSTANTS: ReadonlyMap<string, Numeric> = new Map([
  ["pi", Math.PI],
  ["e", Math.E],
]);

export const FUNCTIONS: ReadonlyMap<string, Callable> = new Map([
  ["abs", takeOne((x) => (x < 0 ? -x : x))],
  ["round", takeOneOrTwo(round)],
  ["min", takeMany((best, next) => (next < best ? next : best))],
  ["max", takeMany((best, next) => (next > best ? next : best))],
  ["sum", sum],
  ["sqrt", takeOne((x) => real(Math.sqrt, x))],
  ["pow", takeTwoOrThree(pow)],
  ["sin", takeOne((x) => real(Math.sin, x))],
  ["cos", takeOne((x) => real(Math.cos, x))],
  ["tan", takeOne((x) => real(Math.tan, x))],
  ["log", takeOneOrTwo((x, base) => (base === undefined ? log(x) : operate("/", log(x), log(base))))],
  ["log10", takeOne((x) => logarithm(x, Math.log10))],
]);

/** Rounds to an int, or to a number of decimal places; a negative one rounds to tens, hundreds and so on. */
function round(x: Numeric, places?: Numeric): Numeric {
  if (places === undefined) return typeof x === "bigint" ? x : roundToInt(finite(x));
  const count = Number(int("round", places));
  return typeof x === "bigint" ? roundInt(x, count) : roundToPlaces(x, count);
}

function pow(base: Numeric, exponent: Numeric, modulus?: Numeric): Numeric {
  if (modulus === undefined) return power(base, exponent);
  return powerModulo(int("pow", base), int("pow", exponent), int("pow", modulus));
}

function sum(name: string, [items, start = 0n, ...rest]: readonly Argument[]): Numeric {
  if (!isList(items) || isList(start) || rest.length > 0) {
    throw calculationError(`${name}() takes a list and a number to start from, as in ${name}([1, 2, 3])`);
  }
  return items.reduce((total, item) => operate("+", total, item), start);
}

function log(x: Numeric): number {
  return logarithm(x, Math.log);
}

/** An int may be larger than any float; its logarithm is not. */
function logarithm(x: Numeric, of: (x: number) => number): number {
  if (x <= 0) throw calculationError("math domain error");
  if (typeof x === "number" || Number.isFinite(Number(x))) return of(Number(x));
  const shift = bitLength(x) - 64;
  return of(Number(x >> BigInt(shift))) + shift * of(2);
}

/** Throws where JavaScript returns NaN: Python raises an error outside the domain of a function. */
function real(of: (x: number) => number, x: Numeric): number {
  const from = toFloat(x);
  const value = of(from);
  if (Number.isNaN(value) && !Number.isNaN(from)) throw calculationError("math domain error");
  return value;
}

function finite(x: number): number {
  if (Number.isNaN(x)) throw calculationError("cannot convert float NaN to integer");
  if (!Number.isFinite(x)) throw calculationError("cannot convert float infinity to integer");
  return x;
}

function int(name: string, x: Numeric): bigint {
  if (typeof x === "number") throw calculationError(`${name}() needs an integer here, not ${x}`);
  return x;
}

function takeOne(of: (x: Numeric) => Numeric): Callable {
  return (name, given) => {
    const [x, ...rest] = numbers(name, given);
    if (x === undefined || rest.length > 0) throw wrongCount(name, "1 argument", given);
    return of(x);
  };
}

function takeOneOrTwo(of: (x: Numeric, y?: Numeric) => Numeric): Callable {
  return (name, given) => {
    const [x, y, ...rest] = numbers(name, given);
    if (x === undefined || rest.length > 0) throw wrongCount(name, "1 or 2 arguments", given);
    return of(x, y);
  };
}

function takeTwoOrThree(of: (x: Numeric, y: Numeric, z?: Numeric) => Numeric): Callable {
  return (name, given) => {
    const [x, y, z, ...rest] = numbers(name, given);
    if (x === undefined || y === undefined || rest.length > 0) throw wrongCount(name, "2 or 3 arguments", given);
    return of(x, y, z);
  };
}

/** Takes one list, or two numbers or more. The first of equals wins, so `max(1, 1.0)` is an int. */
function takeMany(better: (best: Numeric, next: Numeric) => Numeric): Callable {
  return (name, given) => {
    const [only] = given;
    if (given.length === 1 && !isList(only)) throw calculationError(`${name}() takes a list, or 2 numbers or more`);
    const items = given.length === 1 && isList(only) ? only : numbers(name, given);
    const [first, ...rest] = items;
    if (first === undefined) throw calculationError(`${name}() arg is an empty sequence`);
    return rest.reduce(better, first);
  };
}

function numbers(name: string, given: readonly Argument[]): readonly Numeric[] {
  return given.map((argument) => {
    if (isList(argument)) throw calculationError(`${name}() takes no list here`);
    return argument;
  });
}

function isList(argument: Argument | undefined): argument is readonly Numeric[] {
  return Array.isArray(argument);
}

function wrongCount(name: string, wanted: string, given: readonly Argument[]): Error {
  return calculationError(`${name}() takes ${wanted} (${given.length} given)`);
}
