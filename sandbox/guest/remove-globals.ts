import { construct, define, defineProperty, getPrototypeOf, NativeTypeError } from "./primordials.ts";

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

/** Of `ArrayBuffer.prototype`. */
const RESIZING = ["transfer", "transferToFixedLength", "resize", "maxByteLength", "resizable", "detached"];

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
  fixBufferSizes();
}

/** Takes away what changes the size of a buffer: errors of the engine there give a snippet the isolate's memory. */
function fixBufferSizes(): void {
  const Native = ArrayBuffer;
  const { prototype, isView } = Native;
  for (const name of RESIZING) Reflect.deleteProperty(prototype, name);
  const Fixed = function ArrayBuffer(length: unknown, options?: unknown): unknown {
    if (new.target === undefined) throw new NativeTypeError("Cannot call ArrayBuffer without new");
    if (options !== undefined)
      throw new NativeTypeError("Cannot make a buffer that can be resized: leave out the second argument");
    return construct(Native, [length], new.target);
  };
  defineProperty(Fixed, "prototype", { value: prototype, writable: false, configurable: false, enumerable: false });
  define(Fixed, "length", 1);
  define(Fixed, "isView", isView);
  define(prototype, "constructor", Fixed);
  const species = Reflect.getOwnPropertyDescriptor(Native, Symbol.species);
  if (species !== undefined) defineProperty(Fixed, Symbol.species, species);
  define(globalThis, "ArrayBuffer", Fixed);
}

/** Stands where a constructor of functions stood, so that `instanceof` and `.name` still answer. */
function refuse(prototype: object): unknown {
  const refused = function Function(): never {
    throw new TypeError("Cannot make code from text: write the code itself in the snippet");
  };
  defineProperty(refused, "prototype", { value: prototype, writable: false, configurable: false, enumerable: false });
  return refused;
}
