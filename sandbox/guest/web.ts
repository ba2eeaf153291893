import { define } from "./primordials.ts";

/** What a model takes for granted beside the language. */
export function defineWeb(): void {
  define(globalThis, "queueMicrotask", (callback: () => void) => {
    void Promise.resolve().then(callback);
  });
}
