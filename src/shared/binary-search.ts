/** Returns the index of the first item that is past a limit, in a list where all items after it are as well. */
export function findFirstIndex<Item>(items: readonly Item[], isPast: (item: Item) => boolean): number {
  let [low, high] = [0, items.length];
  while (low < high) {
    const middle = (low + high) >> 1;
    const item = items[middle];
    if (item !== undefined && isPast(item)) high = middle;
    else low = middle + 1;
  }
  return low;
}
