import { bitLength, floorQuotient, fraction, nearestFloat } from "./exact.ts";

/** Python's numbers: a bigint is an int, exact; a number is a float. */
export type Numeric = bigint | number;

export type BinaryOperator = "+" | "-" | "*" | "/" | "//" | "%" | "**";

const MAX_EXPONENT = 1000;

/** Length limit of integers, which bounds the run time. Python prints no longer ones either. */
const MAX_DIGITS = 4300;
const INT_LIMIT = 10n ** BigInt(MAX_DIGITS);
const INT_LIMIT_BITS = INT_LIMIT.toString(2).length;

export function calculationError(why: string): Error {
  return new Error(`Calculation error: ${why}`);
}

/** Applies an operator. Two ints give an int, except for `/` and negative powers; with a float the result is a float. */
export function operate(operator: BinaryOperator, left: Numeric, right: Numeric): Numeric {
  if (operator === "**") return power(left, right);
  if (typeof left === "bigint" && typeof right === "bigint") return ON_INTS[operator](left, right);
  return ON_FLOATS[operator](toFloat(left), toFloat(right));
}

type Operators<N> = Readonly<Record<Exclude<BinaryOperator, "**">, (left: N, right: N) => Numeric>>;

const ON_INTS: Operators<bigint> = {
  "+": (left, right) => bounded(left + right),
  "-": (left, right) => bounded(left - right),
  "*": (left, right) => bounded(left * right),
  "/": (left, right) => inRange(nearestFloat(left, nonZero(right)), "integer division result too large for a float"),
  "//": (left, right) => floorQuotient(left, nonZero(right)),
  "%": (left, right) => left - floorQuotient(left, nonZero(right)) * right,
};

const ON_FLOATS: Operators<number> = {
  "+": (left, right) => left + right,
  "-": (left, right) => left - right,
  "*": (left, right) => left * right,
  "/": (left, right) => left / nonZero(right),
  "//": floorDivide,
  "%": modulo,
};

/** The remainder has the sign of the divisor. */
function modulo(left: number, right: number): number {
  const remainder = left % nonZero(right);
  return remainder !== 0 && remainder < 0 !== right < 0 ? remainder + right : remainder;
}

/** Avoids `Math.floor(left / right)`, which rounds first: 1 // 0.1 is 9, because 0.1 is slightly more than a tenth. */
function floorDivide(left: number, right: number): number {
  const quotient = (left - modulo(left, right)) / right;
  const floor = Math.floor(quotient);
  return quotient - floor > 0.5 ? floor + 1 : floor;
}

export function power(base: Numeric, exponent: Numeric): Numeric {
  if (exponent > MAX_EXPONENT) throw exponentTooLarge();
  if (typeof base === "bigint" && typeof exponent === "bigint" && exponent >= 0n) return raiseInt(base, exponent);
  return raiseFloat(toFloat(base), toFloat(exponent));
}

function raiseInt(base: bigint, exponent: bigint): bigint {
  const leastBits = (bitLength(base) - 1) * Number(exponent);
  if (leastBits > INT_LIMIT_BITS) throw tooLarge();
  return bounded(base ** exponent);
}

function raiseFloat(base: number, exponent: number): number {
  if (base === 1 || exponent === 0) return 1;
  if (base === 0 && exponent < 0) throw calculationError("zero to a negative power");
  if (!Number.isFinite(base) || !Number.isFinite(exponent)) return base === -1 ? 1 : base ** exponent;
  if (base < 0 && !Number.isInteger(exponent)) throw calculationError("math domain error");
  return inRange(finitePower(base, exponent), "numerical result out of range");
}

/** JavaScript's `**` is off in the last bits, which shows when a large result prints in full; whole powers are exact here. */
function finitePower(base: number, exponent: number): number {
  const rough = base ** exponent;
  const isWhole = Number.isInteger(exponent) && Math.abs(exponent) <= MAX_EXPONENT;
  if (!isWhole || rough === 0 || !Number.isFinite(rough)) return rough;
  const { numerator, denominator } = fraction(base);
  const times = BigInt(Math.abs(exponent));
  return exponent < 0
    ? nearestFloat(denominator ** times, numerator ** times)
    : nearestFloat(numerator ** times, denominator ** times);
}

/** `pow(base, exponent, modulus)` of Python: a negative exponent asks for the inverse. */
export function powerModulo(base: bigint, exponent: bigint, modulus: bigint): bigint {
  if (modulus === 0n) throw calculationError("pow() 3rd argument cannot be 0");
  if (exponent > MAX_EXPONENT || exponent < -MAX_EXPONENT) throw exponentTooLarge();
  if (exponent < 0n) return powerModulo(inverse(base, modulus), -exponent, modulus);
  let result = 1n;
  for (let step = 0n; step < exponent; step++) result = (result * base) % modulus;
  return result - floorQuotient(result, modulus) * modulus;
}

/** By the extended Euclidean algorithm. */
function inverse(value: bigint, modulus: bigint): bigint {
  let [divisor, remainder] = [value, modulus];
  let [factor, nextFactor] = [1n, 0n];
  while (remainder !== 0n) {
    const quotient = divisor / remainder;
    [divisor, remainder] = [remainder, divisor - quotient * remainder];
    [factor, nextFactor] = [nextFactor, factor - quotient * nextFactor];
  }
  if (divisor !== 1n && divisor !== -1n) throw calculationError("base is not invertible for the given modulus");
  return factor * divisor;
}

export function toFloat(value: Numeric): number {
  return typeof value === "number" ? value : inRange(Number(value), "int too large to convert to float");
}

function bounded(value: bigint): bigint {
  if (value >= INT_LIMIT || value <= -INT_LIMIT) throw tooLarge();
  return value;
}

function tooLarge(): Error {
  return calculationError(`integer too large (max ${MAX_DIGITS} digits)`);
}

function exponentTooLarge(): Error {
  return calculationError(`exponent too large (max ${MAX_EXPONENT})`);
}

function nonZero<N extends Numeric>(value: N): N {
  if (Number(value) === 0) throw calculationError("division by zero");
  return value;
}

function inRange(value: number, why: string): number {
  if (Math.abs(value) === Infinity) throw calculationError(why);
  return value;
}
