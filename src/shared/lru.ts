/** Keeps a value as the newest of its map; of more than `most`, the one that was kept longest ago goes. */
export function setBounded<Key, Value>(
  values: Map<Key, Value>,
  [key, value]: readonly [key: Key, value: Value],
  most: number,
): void {
  values.delete(key);
  values.set(key, value);
  deleteOldest(
    values,
    () => values.size > most,
    (oldest) => values.delete(oldest),
  );
}

/** Deletes the entries that were added first, one by one, while there are too many. */
export function deleteOldest<Key>(
  entries: ReadonlyMap<Key, unknown> | ReadonlySet<Key>,
  isTooFull: () => boolean,
  remove: (key: Key) => void,
): void {
  for (const oldest of entries.keys()) {
    if (!isTooFull()) return;
    remove(oldest);
  }
}

/**
 * Returns the entry that goes if there are too many: the first one of the owner that has the most, so that no owner takes the place of
 * others.
 */
export function findSurplus<Entry>(entries: Iterable<Entry>, getOwner: (entry: Entry) => string): Entry | undefined {
  const list = [...entries];
  const counts = new Map<string, number>();
  for (const entry of list) counts.set(getOwner(entry), (counts.get(getOwner(entry)) ?? 0) + 1);
  const most = Math.max(...counts.values());
  return list.find((entry) => counts.get(getOwner(entry)) === most);
}
