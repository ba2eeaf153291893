import { calculationError, type Numeric } from "./arithmetic.ts";
import { scaled } from "./rounding.ts";

const SIGNIFICANT_DIGITS = 6;

/** Formats a whole number in full, any other as C's `%.6g`: `0.333333`, `1e-07`, `1.23457e+08`. */
export function print(value: Numeric): string {
  if (Number.isNaN(value)) throw calculationError("the result is not a number");
  if (value === Infinity || value === -Infinity) throw calculationError("the result is infinite");
  if (typeof value === "bigint") return value.toString();
  return Number.isInteger(value) ? BigInt(value).toString() : general(value);
}

/** Replaces `toPrecision`, which rounds halves up; C rounds them to even. */
function general(value: number): string {
  const sign = value < 0 ? "-" : "";
  const { digits, exponent } = significant(Math.abs(value));
  if (exponent < -4 || exponent >= SIGNIFICANT_DIGITS) {
    const power = String(Math.abs(exponent)).padStart(2, "0");
    return `${sign}${pointed(digits, 1)}e${exponent < 0 ? "-" : "+"}${power}`;
  }
  return exponent < 0
    ? `${sign}${pointed("0".repeat(-exponent) + digits, 1)}`
    : `${sign}${pointed(digits, exponent + 1)}`;
}

function significant(value: number): { readonly digits: string; readonly exponent: number } {
  const [, exponent = "0"] = value.toExponential().split("e");
  const digits = scaled(value, SIGNIFICANT_DIGITS - 1 - Number(exponent)).toString();
  // 9.999999 has become 10.0000: one digit more.
  const carried = digits.length - SIGNIFICANT_DIGITS;
  return { digits: digits.slice(0, SIGNIFICANT_DIGITS), exponent: Number(exponent) + carried };
}

/** Inserts the decimal point after a number of digits and removes trailing zeros. */
function pointed(digits: string, whole: number): string {
  const fraction = digits.slice(whole).replace(/0+$/, "");
  return fraction === "" ? digits.slice(0, whole) : `${digits.slice(0, whole)}.${fraction}`;
}
