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
