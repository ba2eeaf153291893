/**
 * True in the rest of the tests, which `npm run test:all` adds: it repeats each proof as often as planned. `npm test` makes a
 * part, always the same.
 */
export const isRest = ["rest", "all"].includes(process.env["SKILLGATE_TESTS"] ?? "");

/** Returns how often a proof is repeated: `few` times in `npm test`, `many` times in the rest. */
export function repetitions(few: number, many: number): number {
  return isRest ? many : few;
}

/** Returns every nth item, beginning with the first; all items in the rest. */
export function takeEvery<Item>(interval: number, items: readonly Item[]): readonly Item[] {
  return isRest ? items : items.filter((_item, index) => index % interval === 0);
}
