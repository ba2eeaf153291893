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
