import { define, defineProperty, getPrototypeOf } from "./primordials.ts";

/** Globals that give a snippet nothing but trouble: threads, collection order, code from text, the engine's own. */
const REMOVED = [
  "eval",
  "SharedArrayBuffer",
  "Atomics",
  "WeakRef",
  "FinalizationRegistry",
  "bjson",
  "gc",
  "std",
  "os",
  "scriptArgs",
  "navigator",
];

/** Takes code from text, threads and collection order away. Runs once, before the image is taken. */
export function tame(): void {
  for (const name of REMOVED) Reflect.deleteProperty(globalThis, name);
  const makers = [
    Function,
    getPrototypeOf(async () => {}) as { constructor: unknown },
    getPrototypeOf(function* () {}) as { constructor: unknown },
    getPrototypeOf(async function* () {}) as { constructor: unknown },
  ];
  for (const maker of makers) {
    const prototype = (typeof maker === "function" ? maker.prototype : maker) as object;
    defineProperty(prototype, "constructor", {
      value: refuse(prototype),
      writable: false,
      configurable: false,
      enumerable: false,
    });
  }
  define(globalThis, "Function", Function.prototype.constructor);
}

/** Stands where a constructor of functions stood, so that `instanceof` and `.name` still answer. */
function refuse(prototype: object): unknown {
  const refused = function Function(): never {
    throw new TypeError("Cannot make code from text: write the code itself in the snippet");
  };
  defineProperty(refused, "prototype", { value: prototype, writable: false, configurable: false, enumerable: false });
  return refused;
}
