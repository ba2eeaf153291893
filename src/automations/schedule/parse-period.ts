import { quote } from "../../shared/format-text.ts";

const UNITS_MS: Readonly<Record<string, number>> = { s: 1_000, m: 60_000, h: 3_600_000, d: 86_400_000 };

/** The range of a period, as it is written and in milliseconds. */
export interface PeriodRange {
  readonly min: string;
  readonly max: string;
}

/** Parses a period such as `30s`, `5m`, `2h` or `7d` in a range. Returns milliseconds. `fail` makes an error of the reason. */
export function parsePeriod(value: unknown, { min, max }: PeriodRange, fail: (why: string) => Error): number {
  const ms = toPeriodMs(value);
  const example = `write a number with s, m, h or d, from ${min} to ${max}`;
  if (ms === undefined) throw fail(`${describeValue(value)} is not a period; ${example}`);
  if (ms < (toPeriodMs(min) ?? 0)) throw fail(`${describeValue(value)} is shorter than ${min}; ${example}`);
  if (ms > (toPeriodMs(max) ?? 0)) throw fail(`${describeValue(value)} is longer than ${max}; ${example}`);
  return ms;
}

/** Formats a period in its largest whole unit: `90000` becomes `90s`. */
export function formatPeriod(ms: number): string {
  const [unit, unitMs] = Object.entries(UNITS_MS).findLast(([, each]) => ms % each === 0) ?? ["s", 1_000];
  return `${ms / unitMs}${unit}`;
}

/** Describes a value of a settings file in a message. */
export function describeValue(value: unknown): string {
  if (typeof value === "string") return quote(value);
  return typeof value === "object" && value !== null ? (Array.isArray(value) ? "a list" : "an object") : String(value);
}

function toPeriodMs(value: unknown): number | undefined {
  const [, number, unit = ""] = (typeof value === "string" && /^(\d{1,9})([smhd])$/.exec(value)) || [];
  return number === undefined ? undefined : Number(number) * (UNITS_MS[unit] ?? 0);
}
