const part = process.env["SKILLGATE_TESTS"] ?? "usual";

/** True in the nightly tests, which repeat each proof as often as planned, with new seeds. */
export const isNightly = part === "nightly";

/** Returns how often a proof is repeated: in `npm test`, in the rest of the tests, and every night. */
export function repetitions(usual: number, rest: number, nightly = rest): number {
  return isNightly ? nightly : part === "usual" ? usual : rest;
}

/** Returns every nth item, beginning with the first; all items every night. `rest` is the interval in the rest of the tests. */
export function takeEvery<Item>(usual: number, items: readonly Item[], rest = 1): readonly Item[] {
  const interval = repetitions(usual, rest, 1);
  return items.filter((_item, index) => index % interval === 0);
}

/**
 * Returns every nth item in `npm test`, and in the rest of the tests those that it leaves out: they need not prove again, in the
 * same words, what it has proven. All items where both parts run together, and every night.
 */
export function takeShare<Item>(usual: number, items: readonly Item[], rest = 1): readonly Item[] {
  const isProven = (index: number): boolean => part === "rest" && index % usual === 0;
  const interval = repetitions(usual, rest, 1);
  return items.filter((_item, index) => index % interval === 0 && !isProven(index));
}
