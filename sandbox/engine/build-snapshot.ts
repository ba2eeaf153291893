import { LAYOUT, openEngine } from "./quickjs.ts";
import { takeSnapshot } from "./snapshot.ts";
import type { PreparedSnapshot } from "./prepared-snapshot.ts";
import { growMemory, openMemory, WASM_PAGE } from "./memory.ts";

/**
 * JavaScript stack of a guest. Deeper recursion is an error in the guest; a larger one would overflow the thread's stack
 * first.
 */
const STACK_BYTES = 1024 << 10;

/**
 * Initialises an engine with the guest's own code and takes its snapshot. Slow (some milliseconds); done once. Each script
 * is a function that receives an object with the exports of the scripts before it, and adds its own.
 */
export function buildSnapshot(module: WebAssembly.Module, guestScripts: readonly string[]): PreparedSnapshot {
  const memory = openMemory(LAYOUT.initialPages * WASM_PAGE);
  const engine = openEngine(module, memory, {
    called: () => 0,
    shouldInterrupt: () => false,
    now: Date.now,
    grow: (bytes) => growMemory(memory, bytes),
  });
  const heapStart = engine.stackSave();
  const write = (text: string): number => {
    const at = heapStart - LAYOUT.stackBytes + 256;
    const bytes = Buffer.from(memory.buffer);
    bytes[at + bytes.write(text, at, "utf8")] = 0;
    return at;
  };
  const runtime = engine.newRuntime();
  engine.setMaxStackSize(runtime, STACK_BYTES);
  engine.enableInterrupts(runtime);
  const context = engine.newContext(runtime, 0);
  const global = engine.getGlobal(context);
  const name = (text: string): number => engine.newString(context, write(text));
  const fileName = engine.malloc(16);
  Buffer.from(memory.buffer).write("guest.js\0", fileName);
  const settled = (result: number): number => {
    if (engine.resolveException(context, result) === 0) return result;
    throw new Error("Cannot prepare the guest: its own code throws");
  };
  const evaluate = (code: string): number =>
    settled(engine.evaluate(context, write(code), Buffer.byteLength(code), fileName, 0, 0));
  const free = (value: number): void => void engine.freeValue(context, value);
  const parts = evaluate("({})");
  const run = (script: string): void => {
    const setUp = evaluate(script);
    const argv = write("") + 16;
    new DataView(memory.buffer).setUint32(argv, parts, true);
    free(settled(engine.call(context, setUp, engine.getUndefined(), 1, argv)));
    free(setUp);
  };
  engine.setProperty(context, global, name("__host"), engine.newFunction(context, write("host"), 4, 0, 1));
  // Without source and positions the guest's code is half as large, and no stack or function text shows it to a program.
  const strip = (flags: number): void => new DataView(memory.buffer).setUint8(runtime + LAYOUT.stripFlags, flags);
  strip(3);
  guestScripts.forEach(run);
  free(parts);
  strip(0);
  const clock = engine.malloc(8);
  new DataView(memory.buffer).setFloat64(clock, NaN, true);
  const readHandle = (property: string): number => engine.getProperty(context, global, name(property));
  const handles = {
    runtime,
    context,
    undefined: engine.getUndefined(),
    prepare: readHandle("__prepare"),
    follow: readHandle("__follow"),
    deliver: readHandle("__deliver"),
    fail: readHandle("__fail"),
    cannotSettle: readHandle("__cannotSettle"),
    idle: readHandle("__idle"),
    clock,
    seed: findSeed(memory, context, () => free(evaluate("Math.random()"))),
  };
  free(
    evaluate(
      "for (const name of ['__prepare', '__follow', '__deliver', '__fail', '__cannotSettle', '__idle']) delete globalThis[name]",
    ),
  );
  engine.free(fileName);
  const snapshot = takeSnapshot(memory, { dataEnd: heapStart - LAYOUT.stackBytes, heapStart });
  return { snapshot, handles };
}

/** Finds the state of `Math.random` (xorshift64*) in the context: the eight bytes that change as one step of it does. */
function findSeed(memory: WebAssembly.Memory, context: number, step: () => void): number {
  const size = 2_048;
  const before = new DataView(memory.buffer.slice(context, context + size));
  step();
  const after = new DataView(memory.buffer.slice(context, context + size));
  const mask = (1n << 64n) - 1n;
  for (let at = 0; at < size; at += 8) {
    let x = before.getBigUint64(at, true);
    if (x === after.getBigUint64(at, true)) continue;
    x ^= x >> 12n;
    x = (x ^ (x << 25n)) & mask;
    x ^= x >> 27n;
    if (x === after.getBigUint64(at, true)) return context + at;
  }
  throw new Error("Cannot prepare the guest: the state of Math.random is not where it was");
}
