import { UNKNOWN } from "../model/plan.ts";
import { TIMED_OUT } from "../shared/run-with-timeout.ts";
import type { CompiledCheck } from "./compile.ts";
import { putAt, type Pointer, findUnknownPointers, valueAt } from "./json-pointer.ts";
import { copyObject } from "./size.ts";

/** Copies the input with each date as ISO 8601 text. */
export function withTexts(given: Readonly<Record<string, unknown>>): Record<string, unknown> {
  return copyObject(given, (date) => date.toJSON());
}

/**
 * Puts the dates of `given` back into `input`, where they were replaced by texts. Only where the schema does not restrict
 * the type: there, a value of any type is valid.
 */
export function restoreDates(
  input: Record<string, unknown>,
  given: Readonly<Record<string, unknown>>,
  check: CompiledCheck,
  weight: number,
): void {
  const probe = copyObject(given, () => UNKNOWN);
  const places = findUnknownPointers(probe);
  const errors = check.errorsIn(probe, weight);
  if (errors === TIMED_OUT) return;
  const typed = new Set<Pointer>(errors.map(({ instancePath }) => instancePath));
  for (const place of places) {
    const date = valueAt(place, given);
    if (date instanceof Date && !Number.isNaN(date.getTime()) && !isAtOrBelow(place, typed)) putAt(place, input, date);
  }
}

function isAtOrBelow(place: Pointer, others: ReadonlySet<Pointer>): boolean {
  for (let above = place; above !== ""; above = above.slice(0, above.lastIndexOf("/")))
    if (others.has(above)) return true;
  return others.has("");
}
