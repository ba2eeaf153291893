import { findStringEnd } from "../../shared/json/exact-json.ts";
import { findShapeExcess } from "../../shared/json/json-shape.ts";
import { MAX_DEPTH, MAX_VALUES, TOO_DEEP, TOO_MANY } from "../../shared/values/value-size.ts";

/** A text that may be JSON: its value, or why the value would lose something. */
export type JsonText =
  | { readonly kind: "not JSON" }
  | { readonly kind: "value"; readonly value: unknown }
  /** It has an integer that a number cannot hold exactly. */
  | { readonly kind: "inexact"; readonly integer: string }
  /** It has an object with more names than a message may have, and is not parsed. */
  | { readonly kind: "unread"; readonly excess: string }
  /** It has more levels or values than a result may have. */
  | { readonly kind: "excess"; readonly excess: string; readonly value: unknown };

export function parseJsonText(text: string): JsonText {
  const unread = findShapeExcess(text);
  if (unread !== undefined) return { kind: "unread", excess: unread };
  const loss = findLoss(text);
  try {
    const value = JSON.parse(text) as unknown;
    if (loss === undefined) return { kind: "value", value };
    return loss.kind === "excess" ? { ...loss, value } : loss;
  } catch {
    return { kind: "not JSON" };
  }
}

/** Tests whether a text begins and ends as a JSON object or array does. */
export function isStructureText(text: string): boolean {
  return /^\s*[[{]/.test(text) && /[\]}]\s*$/.test(text.slice(-MAX_TRAILING_SPACE));
}

/** White space that may follow the last bracket: the pattern must not search a long text for it. */
const MAX_TRAILING_SPACE = 100;

/** The shortest integer that a number may not hold exactly, 2^53 + 1, has this many digits. */
const INEXACT_DIGITS = 16;

/** Digits of an integer that a note quotes. */
const SHOWN_DIGITS = 40;

const QUOTE = 0x22;
const COMMA = 0x2c;

type Loss =
  | { readonly kind: "inexact"; readonly integer: string }
  | { readonly kind: "excess"; readonly excess: string };

/** Reads the text once, faster than `JSON.parse` does. For a text that is not JSON, the result is meaningless. */
function findLoss(text: string): Loss | undefined {
  let depth = 0;
  let values = 0;
  let integer: string | undefined;
  for (let at = 0; at < text.length; at++) {
    const unit = text.charCodeAt(at);
    if (unit === QUOTE) at = findStringEnd(text, at);
    else if (unit === COMMA) values++;
    else if (unit === 0x5b || unit === 0x7b) {
      values++;
      if (++depth > MAX_DEPTH) return { kind: "excess", excess: TOO_DEEP };
    } else if (unit === 0x5d || unit === 0x7d) depth--;
    else if (isDigit(unit)) {
      const start = at;
      while (isDigit(text.charCodeAt(at + 1))) at++;
      if (at - start + 1 >= INEXACT_DIGITS && isInexact(text, start, at + 1))
        integer ??= text.slice(start, Math.min(at + 1, start + SHOWN_DIGITS));
    }
  }
  if (values >= MAX_VALUES) return { kind: "excess", excess: TOO_MANY };
  return integer === undefined ? undefined : { kind: "inexact", integer };
}

function isDigit(unit: number): boolean {
  return unit >= 0x30 && unit <= 0x39;
}

/** Tests whether the digits are an integer whose number has other digits; fractions are rounded in any JSON. */
function isInexact(text: string, start: number, end: number): boolean {
  if (/[.eE]/.test(text[end] ?? "") || /[.eE+]/.test(text[start - 1] ?? "")) return false;
  if (/[eE]-/.test(text.slice(Math.max(0, start - 2), start))) return false;
  const digits = text.slice(start, end);
  const number = Number(digits);
  return !Number.isFinite(number) || BigInt(number) !== BigInt(digits);
}
