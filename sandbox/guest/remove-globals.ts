import { construct, define, defineProperty, getPrototypeOf, NativeTypeError } from "./primordials.ts";

/** Globals that a program must not have: threads, collection order, code from text, the engine's own. */
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

/** Members of `ArrayBuffer.prototype` that resize a buffer, or exist only for that. */
const RESIZING = ["transfer", "transferToFixedLength", "resize", "maxByteLength", "resizable", "detached"];

/** Removes code from text, threads and collection order. Runs once, before the snapshot is taken. */
export function removeGlobals(): void {
  for (const name of REMOVED) Reflect.deleteProperty(globalThis, name);
  const functionConstructors = [
    Function,
    getPrototypeOf(async () => {}) as { constructor: unknown },
    getPrototypeOf(function* () {}) as { constructor: unknown },
    getPrototypeOf(async function* () {}) as { constructor: unknown },
  ];
  for (const maker of functionConstructors) {
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

/** Removes everything that changes the size of a buffer: flaws of the engine there expose the isolate's memory. */
function fixBufferSizes(): void {
  const Native = ArrayBuffer;
  const { prototype, isView } = Native;
  for (const name of RESIZING) Reflect.deleteProperty(prototype, name);
  const Fixed = function (length: unknown, options?: unknown): unknown {
    if (new.target === undefined) throw new NativeTypeError("Cannot call ArrayBuffer without new");
    if (options !== undefined)
      throw new NativeTypeError("Cannot make a buffer that can be resized: leave out the second argument");
    return construct(Native, [length], new.target);
  };
  defineProperty(Fixed, "name", { value: "ArrayBuffer" });
  defineProperty(Fixed, "prototype", { value: prototype, writable: false, configurable: false, enumerable: false });
  define(Fixed, "length", 1);
  define(Fixed, "isView", isView);
  define(prototype, "constructor", Fixed);
  const species = Reflect.getOwnPropertyDescriptor(Native, Symbol.species);
  if (species !== undefined) defineProperty(Fixed, Symbol.species, species);
  define(globalThis, "ArrayBuffer", Fixed);
}

/** Replaces a constructor of functions by one that throws, so that `instanceof` and `.name` still work. */
function refuse(prototype: object): unknown {
  const refused = function (): never {
    throw new TypeError("Cannot make code from text: write the code itself in the program");
  };
  defineProperty(refused, "name", { value: "Function" });
  defineProperty(refused, "prototype", { value: prototype, writable: false, configurable: false, enumerable: false });
  return refused;
}
