/** Many short lists of numbers below 2³², in one array that grows: an array for each would cost more than they hold. */
export interface NumberLists {
  /** Appends a list; the first has the number 0. */
  add(numbers: readonly number[]): void;
  /** Empty for a list that there is not. */
  at(list: number): Uint32Array;
}

export function createNumberLists(): NumberLists {
  let room = new Uint32Array(1_024);
  const ends: number[] = [];
  return {
    add(numbers) {
      const from = ends.at(-1) ?? 0;
      const to = from + numbers.length;
      if (to > room.length) {
        const larger = new Uint32Array(Math.max(to, Math.ceil(1.5 * room.length)));
        larger.set(room.subarray(0, from));
        room = larger;
      }
      room.set(numbers, from);
      ends.push(to);
    },
    at: (list) => room.subarray(list === 0 ? 0 : ends[list - 1], ends[list] ?? 0),
  };
}
