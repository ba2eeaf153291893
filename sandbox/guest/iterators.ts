import { define, getPrototypeOf, NativeTypeError, uncurry } from "./primordials.ts";

/** An iterator with the method that is not in the library of TypeScript that the guest's code is compiled with. */
interface MappableIterator {
  readonly map: (change: (item: unknown) => unknown) => object;
}

const list = [].values() as unknown as MappableIterator;
const HELPER = getPrototypeOf(list.map((item) => item)) as { return: () => unknown };
const close = uncurry(HELPER.return) as (helper: unknown) => unknown;

const METHODS = {
  return(this: unknown): unknown {
    try {
      return close(this);
    } catch (error) {
      if (error instanceof NativeTypeError && error.message === "not a function")
        return { value: undefined, done: true };
      throw error;
    }
  },
};

/**
 * Lets a program leave `list.values().map(…)` early, as `break`, `find`, `take` and `const [first]` do: the engine closes the iterator
 * that such a helper is made of, and fails if that has no `return`, as those of lists, maps, sets and texts. Runs once, before the
 * snapshot is taken.
 */
export function closeIteratorHelpers(): void {
  define(HELPER, "return", METHODS.return);
}
