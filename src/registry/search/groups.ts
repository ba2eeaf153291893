/** Values by a key that several of them may have. */
export type Groups<Key, Value> = Map<Key, Value[]>;

export function pushToGroup<Key, Value>(groups: Groups<Key, Value>, key: Key, value: Value): void {
  const group = groups.get(key);
  if (group === undefined) groups.set(key, [value]);
  else group.push(value);
}
