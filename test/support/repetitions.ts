/** True in `npm run test:all`, which repeats each proof as often as planned. `npm test` makes a part, always the same. */
export const isTestAll = process.env["SKILLGATE_TEST_ALL"] === "1";

/** Returns how often a proof is repeated: `few` times in `npm test`, `many` times in `npm run test:all`. */
export function repetitions(few: number, many: number): number {
  return isTestAll ? many : few;
}

/** Returns every nth item, beginning with the first; all items in `npm run test:all`. */
export function takeEvery<Item>(interval: number, items: readonly Item[]): readonly Item[] {
  return isTestAll ? items : items.filter((_item, index) => index % interval === 0);
}
