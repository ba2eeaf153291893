/** Numbers in one chunk. A list lies in one chunk, so a longer list gets its own chunk. */
const CHUNK = 1 << 16;

/** Many short lists of numbers below 2³², without the overhead of an array for each. Growing copies nothing. */
export interface NumberLists {
  /** Appends a list; the first has the number 0. */
  add(numbers: readonly number[]): void;
  /** Returns a list; empty for an unknown number. */
  at(list: number): Uint32Array;
}

export function createNumberLists(): NumberLists {
  const chunks: Uint32Array[] = [];
  /** By list: the number of its chunk, where it begins there, and where it ends. */
  const places: number[] = [];
  let chunk = new Uint32Array(0);
  let used = 0;
  return {
    add(numbers) {
      if (used + numbers.length > chunk.length) {
        chunk = new Uint32Array(Math.max(CHUNK, numbers.length));
        chunks.push(chunk);
        used = 0;
      }
      chunk.set(numbers, used);
      places.push(chunks.length - 1, used, used + numbers.length);
      used += numbers.length;
    },
    at: (list) => (chunks[places[3 * list] ?? -1] ?? NO_NUMBERS).subarray(places[3 * list + 1], places[3 * list + 2]),
  };
}

const NO_NUMBERS = new Uint32Array(0);
