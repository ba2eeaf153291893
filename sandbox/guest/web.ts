import { define, NativeError } from "./primordials.ts";
import { callInMicrotask } from "./microtask.ts";
import { structuredClone } from "./web/clone.ts";
import { TextDecoder, TextEncoder } from "./web/encoding.ts";
import { defineIntl } from "./web/intl.ts";
import { URLSearchParams } from "./web/search-params.ts";
import { URL } from "./web/url.ts";

/**
 * Defines the web globals that models expect. Not here: `crypto`, because an isolate has no secure randomness.
 */
export function defineWeb(fail: (reason: unknown) => void): void {
  const builtins = { structuredClone, TextEncoder, TextDecoder, URL, URLSearchParams };
  for (const [name, builtin] of Object.entries(builtins)) {
    Object.defineProperty(builtin, "name", { value: name }); // the bundler gives names of its own
    define(globalThis, name, builtin);
  }
  define(globalThis, "queueMicrotask", function queueMicrotask(callback: unknown): void {
    if (typeof callback !== "function") throw new NativeError("Cannot queue what is not a function");
    callInMicrotask(callback as () => void, [], fail);
  });
  defineIntl();
  const performance = {};
  define(performance, "now", function now(): number {
    const time = Date.now();
    origin ??= time;
    return time - origin;
  });
  define(globalThis, "performance", performance);
}

/** When the program first asked for the time. */
let origin: number | undefined;
