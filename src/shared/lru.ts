/** Keeps a value as the newest of its map; of more than `most`, the one that was kept longest ago goes. */
export function setBounded<Key, Value>(
  values: Map<Key, Value>,
  [key, value]: readonly [key: Key, value: Value],
  most: number,
): void {
  values.delete(key);
  values.set(key, value);
  if (values.size <= most) return;
  for (const oldest of values.keys()) {
    values.delete(oldest);
    break;
  }
}
