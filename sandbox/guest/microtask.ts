import { apply, bind, NativePromise, then } from "./primordials.ts";

const now = NativePromise.resolve();

/**
 * Calls a function of the snippet when everything that runs has come to an end. The engine itself calls it, so that a
 * stack that is taken in it shows nothing of ours. `fail` hears what it throws, or what its promise is rejected with.
 */
export function callInMicrotask(
  callback: () => unknown,
  args: readonly unknown[],
  fail: (reason: unknown) => void,
): void {
  void then(then(now, bind(apply, undefined, callback, undefined, args), ignore), ignore, fail);
}

function ignore(): void {}
