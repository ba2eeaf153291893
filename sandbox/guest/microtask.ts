import { apply, bind, NativePromise, then } from "./primordials.ts";

const now = NativePromise.resolve();

/**
 * Calls a function of the program after the running code has ended. The engine itself calls it, so that a stack taken in
 * it shows no frame of the guest's own code. `fail` receives what it throws, or its promise's rejection.
 */
export function callInMicrotask(
  callback: () => unknown,
  args: readonly unknown[],
  fail: (reason: unknown) => void,
): void {
  void then(then(now, bind(apply, undefined, callback, undefined, args), ignore), ignore, fail);
}

function ignore(): void {}
