import { InvalidArgumentError } from "commander";

const UNITS_MS: Readonly<Record<string, number>> = {
  s: 1_000,
  m: 60_000,
  h: 3_600_000,
  d: 86_400_000,
  w: 7 * 86_400_000,
};

/** Parses a period such as `90d`, `12h` or `0`, in milliseconds. */
export function periodMs(text: string): number {
  const ms = findPeriodMs(text);
  if (ms !== undefined) return ms;
  throw new InvalidArgumentError("It must be a period, as in 30m, 12h, 90d or 4w.");
}

/** Parses a time in the future as a period from now, a date or RFC 3339; returns milliseconds since 1970. */
export function timeAfterNow(text: string): number {
  const ms = findPeriodMs(text);
  if (ms !== undefined) return Date.now() + ms;
  const time = DATE.test(text) ? Date.parse(text) : Number.NaN;
  if (Number.isFinite(time)) return time;
  throw new InvalidArgumentError("It must be a period or a date, as in 90d, 2027-01-31 or 2027-01-31T12:00:00Z.");
}

function findPeriodMs(text: string): number | undefined {
  const [, number, unit = "s"] = /^(\d{1,9})([smhdw])$/.exec(text) ?? /^(0)$/.exec(text) ?? [];
  return number === undefined ? undefined : Number(number) * (UNITS_MS[unit] ?? 1);
}

const DATE = /^\d{4}-\d{2}-\d{2}(?:T\d{2}:\d{2}(?::\d{2}(?:\.\d{1,3})?)?(?:Z|[+-]\d{2}:\d{2}))?$/;

/** The longest delay of a timer in Node, in milliseconds. */
const MAX_NUMBER = 2 ** 31 - 1;

/** Parses the value of an option: a whole number from 1. */
export function wholeNumber(text: string): number {
  return parseWholeNumber(text, 1);
}

/** Parses the value of an option: a whole number from 0. */
export function wholeNumberOrZero(text: string): number {
  return parseWholeNumber(text, 0);
}

function parseWholeNumber(text: string, least: number): number {
  const number = Number(text);
  if (/^\d+$/.test(text) && number >= least && number <= MAX_NUMBER) return number;
  throw new InvalidArgumentError(`It must be a whole number from ${least} to ${MAX_NUMBER}.`);
}

/** Returns a flag as it is written: `--catch-up` for `catchUp`. */
export function formatFlag(name: string): string {
  return `--${name.replaceAll(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`)}`;
}
