import { createHash } from "node:crypto";
import { readFileSync } from "node:fs";
import { setFlagsFromString } from "node:v8";

/**
 * QuickJS as WebAssembly: `@jitl/quickjs-wasmfile-release-sync` 0.32.0, which is bellard/quickjs 2025-09-13 + f1139494.
 * We use the module itself and not the JavaScript around it, so that it reaches only the host functions below.
 * Its names are minified; the table is valid only for the one file with this digest.
 */
const WASM_DIGEST = "105c3bed22d457e43e3d1c3c1c6959fda62a8fe06f0fc8a985303c3a2be72232";

/** The exports in use, by the names of the engine's own glue code. */
const EXPORTS = {
  start: "u",
  malloc: "v",
  free: "M",
  setMaxStackSize: "D",
  newRuntime: "K",
  newContext: "N",
  enableInterrupts: "Fa",
  evaluate: "pa",
  call: "ma",
  newString: "_",
  getString: "$",
  freeString: "S",
  newFunction: "Da",
  getGlobal: "ua",
  getProperty: "ha",
  setProperty: "ja",
  getUndefined: "E",
  writeBinary: "Ja",
  readBinary: "Ka",
  newArrayBuffer: "X",
  getArrayBuffer: "aa",
  getArrayBufferLength: "ba",
  resolveException: "na",
  isJobPending: "fa",
  executeJobs: "ga",
  promiseState: "wa",
  promiseResult: "xa",
  dupValue: "T",
  throwValue: "w",
  freeValue: "P",
  freeValueOfRuntime: "Q",
  stackSave: "Oa",
  stackRestore: "Ma",
} as const;

type Native = (...args: number[]) => number;
export type Engine = Readonly<Record<keyof typeof EXPORTS, Native>>;

/** Layout of the engine's memory, in bytes. From low to high: data, C stack, heap. */
export const LAYOUT = {
  /** The C stack (5 MiB, growing down) ends where the heap begins. */
  stackBytes: 5 << 20,
  /** The word that holds the end of the heap (`sbrk`). */
  heapEndWord: 86_864,
  /** In a runtime: flags for what new functions are stripped of (1: their source, 2: names and lines). */
  stripFlags: 228,
  /** The least memory that the module accepts. */
  initialPages: 256,
} as const;

/** Layout of the engine's stack frames, functions and code: offsets in bytes. */
export const FRAME = {
  /** In a runtime: the innermost frame. A frame begins with a pointer to the one around it. */
  current: 148,
  /** In a frame: its function, and the current position in its bytecode. */
  function: 8,
  pc: 28,
  /** In an object: its class, and a function's pointer to its code. */
  classId: 6,
  code: 32,
  /** Classes of functions, async functions, generators and both. */
  classes: [13, 54, 16, 58] as readonly number[],
  /** In code: a byte of flags, the flag in it for code with positions, the bytecode, and the positions. */
  flags: 18,
  hasPositions: 4,
  bytes: 20,
  positionsLength: 76,
  positions: 80,
} as const;

/** Layout of the engine's promises: offsets in bytes. */
export const PROMISE = {
  /** In an object: its class, and the pointer to its data. */
  classId: 6,
  data: 32,
  class: 51,
  /** In its data: not 0 once the promise has a handler. */
  isHandled: 20,
  /** Results of `promiseState`. */
  pending: 0,
  rejected: 2,
} as const;

/** Functions that the engine may call. */
export interface EngineHost {
  /** The guest calls the host function; `argv` points to its arguments, 8 bytes each. Returns a value's pointer or 0. */
  readonly called: (argv: number, argc: number) => number;
  readonly shouldInterrupt: () => boolean;
  /** Milliseconds since 1970. */
  readonly now: () => number;
  /** Asks to let the memory grow to this many bytes. */
  readonly grow: (bytes: number) => boolean;
}

/** Reads and compiles the engine. Called once; workers share the module. The build writes `file` beside the compiled sandbox. */
export function compileEngine(file: URL): { readonly module: WebAssembly.Module; readonly digest: string } {
  const bytes = readFileSync(file);
  const digest = createHash("sha256").update(bytes).digest("hex");
  if (digest !== WASM_DIGEST)
    throw new Error(`Cannot use this build of QuickJS: its digest is ${digest}, the table is for ${WASM_DIGEST}`);
  return { module: compileWithoutTiering(bytes), digest };
}

/** V8's tiering budget, the work of a function before V8 optimises it: from Node 22 on, and in Node 20. */
const TIERING_BUDGET = { later: 13_000_000, node20: 1_800_000 } as const;

/**
 * The V8 of Node 20 optimises the interpreter after a millisecond of work, which takes 60 ms, in which the process cannot
 * end. So this module gets the budget of later versions. The budget is a property of the module.
 */
function compileWithoutTiering(bytes: Uint8Array<ArrayBuffer>): WebAssembly.Module {
  if (!process.version.startsWith("v20.")) return new WebAssembly.Module(bytes);
  setFlagsFromString(`--wasm-tiering-budget=${TIERING_BUDGET.later}`);
  try {
    return new WebAssembly.Module(bytes);
  } finally {
    setFlagsFromString(`--wasm-tiering-budget=${TIERING_BUDGET.node20}`);
  }
}

/** Creates an instance over the given memory. */
export function openEngine(module: WebAssembly.Module, memory: WebAssembly.Memory, host: EngineHost): Engine {
  const instance = new WebAssembly.Instance(module, { a: { a: memory, ...importsFor(memory, host) } });
  const engine = {} as Record<keyof typeof EXPORTS, Native>;
  for (const [name, letter] of Object.entries(EXPORTS)) {
    engine[name as keyof typeof EXPORTS] = instance.exports[letter] as Native;
  }
  engine.start();
  return engine;
}

/** Returns the module's twenty imports. None of them gives access to files, network or environment. */
function importsFor(memory: WebAssembly.Memory, host: EngineHost): Record<string, (...args: never[]) => unknown> {
  const trap = (): never => {
    throw new WebAssembly.RuntimeError("the engine gave up");
  };
  return {
    b: trap, // assertion failed
    q: trap, // abort
    r: trap, // exit
    l: () => {}, // keeps a runtime alive
    j: () => 0, // setitimer
    p: host.now,
    m: (time: bigint, tm: number) => writeUtc(memory, time, tm),
    n: (zone: number, daylight: number, standardName: number, daylightName: number) =>
      writeZone(memory, zone, daylight, standardName, daylightName),
    k: (bytes: number) => (host.grow(bytes >>> 0) ? 1 : 0),
    e: () => 0, // environment: none
    f: (count: number, size: number) => writeWords(memory, [count, 0], [size, 0]),
    d: () => 8, // close: bad file
    o: () => 8, // seek: bad file
    c: () => 8, // write: bad file
    s: (_context: number, _this: number, argc: number, argv: number) => host.called(argv, argc),
    i: () => (host.shouldInterrupt() ? 1 : 0),
    h: () => 0, // load a module: none
    g: () => 0, // name of a module: none
    t: () => {}, // a host reference is freed: we give none
  };
}

function writeWords(memory: WebAssembly.Memory, ...words: readonly (readonly [number, number])[]): number {
  const view = new DataView(memory.buffer);
  for (const [at, value] of words) view.setInt32(at, value, true);
  return 0;
}

/** `localtime`, with UTC as the only zone (C's struct tm, offsets in 32-bit words). */
function writeUtc(memory: WebAssembly.Memory, seconds: bigint, at: number): void {
  const date = new Date(Number(seconds) * 1_000);
  const firstOfJanuary = Date.UTC(date.getUTCFullYear(), 0, 1);
  const fields = [
    date.getUTCSeconds(),
    date.getUTCMinutes(),
    date.getUTCHours(),
    date.getUTCDate(),
    date.getUTCMonth(),
    date.getUTCFullYear() - 1_900,
    date.getUTCDay(),
    Math.floor((date.getTime() - firstOfJanuary) / 86_400_000),
    0,
    0,
  ];
  const view = new DataView(memory.buffer);
  fields.forEach((value, index) => view.setInt32(at + index * 4, value, true));
}

function writeZone(memory: WebAssembly.Memory, zone: number, daylight: number, ...names: readonly number[]): void {
  writeWords(memory, [zone, 0], [daylight, 0]);
  for (const name of names) new Uint8Array(memory.buffer).set([85, 84, 67, 0], name);
}
