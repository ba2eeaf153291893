import { binaryOfJson } from "./binary-of-json.ts";
import { type Engine, type EngineHost, openEngine } from "./engine.ts";
import {
  type HeapRange,
  heapEndOf,
  type Image,
  limitHeap,
  park,
  type Parked,
  restoreImage,
  STACK_GAP,
  unpark,
} from "./image.ts";
import { jsonOfBinary } from "./json-of-binary.ts";
import { growMemory, openMemory } from "./memory.ts";

/** Jobs between two looks at the clock: the engine swallows interrupts inside promise jobs. */
const JOBS_AT_ONCE = 64;
/** Texts up to this size are passed in the unused low part of the C stack, larger ones through the guest's heap. */
const SCRATCH_BYTES = 3 << 20;

/** JSON of less than this the guest reads as fast as the engine's own form. */
const SHORT_JSON = 200;

/** What may make an object that has a word for JSON of its own: it must be asked. */
const WRITES_ITSELF = /toJSON|URL/;

/** A call with enough arguments for a gap of more than `STACK_GAP.small` has at least this many characters. */
const LONG_SOURCE = 8 << 10;

/** Where the guest's own functions and our fixed values lie in the image. */
export interface Handles {
  readonly runtime: number;
  readonly context: number;
  readonly undefined: number;
  readonly prepare: number;
  readonly follow: number;
  readonly deliver: number;
  readonly fail: number;
  /** The eight bytes behind `Math.random`. */
  readonly seed: number;
}

export interface PreparedImage {
  readonly image: Image;
  readonly handles: Handles;
}

/** The other end of the one host function. */
export interface Ear {
  /** What the guest says: numbers and texts are as hostile as the snippet. `b` is missing where it was too long. */
  readonly hear: (op: number, id: number, a: string, b: string | undefined) => string | undefined;
  /** How long `b` may be, by what is said. */
  readonly textBytes: (op: number) => number;
  /** Asked whenever the engine looks at the clock. */
  readonly isInterrupted: () => boolean;
  /** True once nothing that the guest says is of interest: it need not work on. */
  readonly isOver: () => boolean;
}

/** A name that the guest gives may be this long. */
const NAME_BYTES = 512;

/** Why guest code was stopped in the middle. */
export type Stop = "time" | "memory" | "trap" | "stack";

/** One QuickJS in one capped `WebAssembly.Memory`. The only file that knows how to speak to the engine. */
export class Isolate {
  readonly #memory: WebAssembly.Memory;
  readonly #engine: Engine;
  readonly #stackTop: number;
  readonly #prepared: PreparedImage;
  readonly #ear: Ear;
  /** Over the memory as it was when we last looked: growth gives it another buffer. */
  #bytes: Buffer;
  #view: DataView;
  #range: HeapRange = { extra: 0, end: 0 };
  #deadline = 0;
  #stop: Stop | undefined;
  #thrown: unknown;
  /** How the last run has used the C stack: where the texts end that lie in its low part, and how large gaps can be. */
  #stackUse: { textEnd: number; gap: number };

  /** `heapBytes` is the most that any run of this isolate may ask for. */
  constructor(module: WebAssembly.Module, prepared: PreparedImage, heapBytes: number, ear: Ear) {
    this.#memory = openMemory(prepared.image.heapStart + heapBytes);
    this.#bytes = Buffer.from(this.#memory.buffer);
    this.#view = new DataView(this.#memory.buffer);
    this.#engine = openEngine(module, this.#memory, this.#host());
    this.#stackTop = this.#engine.stackSave();
    this.#prepared = prepared;
    this.#stackUse = { textEnd: prepared.image.dataEnd, gap: STACK_GAP.small };
    this.#ear = ear;
  }

  /** Makes everything as it was when the image was taken, but for the seed of `Math.random`. */
  reset(heapBytes: number, seed: Uint8Array): void {
    this.#restore();
    this.#look();
    this.#bytes.set(seed, this.#prepared.handles.seed);
    this.#range = limitHeap(this.#memory, this.#prepared.image, heapBytes);
  }

  /** The pages of this run; what lies in the isolate afterwards is of no value. */
  park(): Parked {
    return park(this.#memory, this.#prepared.image, this.#range);
  }

  unpark(parked: Parked): void {
    this.#restore();
    unpark(this.#memory, parked);
    this.#range = parked.range;
    this.#stackUse.gap = STACK_GAP.large; // its source is not known
  }

  /** Starts a snippet: the text of an expression that makes an async function, and the JSON of its paths. */
  start(expression: string, pathsJson: string, deadline: number): Stop | undefined {
    const device = `[${WRITES_ITSELF.test(expression) ? 0 : 1},${pathsJson}]`;
    const { prepare, follow } = this.#prepared.handles;
    if (expression.length > LONG_SOURCE) this.#stackUse.gap = STACK_GAP.large;
    return this.#guarded(deadline, () => {
      this.#call(prepare, this.#newString(device));
      const snippet = this.#evaluate(expression, "snippet.js");
      if (this.#hasThrown(snippet)) return;
      const promise = this.#call(snippet);
      if (!this.#hasThrown(promise)) this.#hasThrown(this.#call(follow, promise));
    });
  }

  /** Hands answers to the guest and lets it go on. */
  deliver(answersJson: string, deadline: number): Stop | undefined {
    const { context, deliver } = this.#prepared.handles;
    return this.#guarded(deadline, () => {
      const result = this.#call(deliver, this.#newValue(answersJson));
      if (!this.#hasThrown(result)) this.#engine.freeValue(context, result);
    });
  }

  /** Time that the guest did not compute, because it stood still for a call. */
  postpone(milliseconds: number): void {
    this.#deadline += milliseconds;
  }

  /** Ends the run at the next look at the clock. */
  interrupt(): void {
    this.#deadline = 0;
  }

  /** Heap that the run uses. */
  get heapBytes(): number {
    const { image } = this.#prepared;
    const end = heapEndOf(this.#memory);
    return this.#range.extra === 0 ? end - image.heapStart : image.heapEnd - image.heapStart + end - this.#range.extra;
  }

  /** All memory that the isolate holds. */
  get memoryBytes(): number {
    return this.#memory.buffer.byteLength;
  }

  #host(): EngineHost {
    return {
      called: (argv, argc) => this.#called(argv, argc),
      shouldInterrupt: () => {
        const { isInterrupted, isOver } = this.#ear;
        if (performance.now() > this.#deadline || isInterrupted() || isOver()) this.#stop ??= "time";
        return this.#stop !== undefined;
      },
      grow: (bytes) => {
        if (bytes <= this.#range.end && growMemory(this.#memory, bytes)) return true;
        this.#stop = "memory";
        return false;
      },
    };
  }

  #called(argv: number, argc: number): number {
    this.#look();
    const op = this.#view.getInt32(argv, true);
    const id = this.#view.getInt32(argv + 8, true);
    if (argc < 4 || this.#stop !== undefined) return 0; // a guest that was stopped has nothing more to say
    const name = this.#text(argv + 16, NAME_BYTES) ?? "";
    const most = this.#ear.textBytes(op);
    const text = argc === 4 ? this.#text(argv + 24, most) : this.#json(argv + 24, most);
    // A value that is not understood as it is: the guest says it again as JSON.
    if (argc !== 4 && text === undefined) return this.#newString("");
    const answer = this.#ear.hear(op, id, name, text);
    return answer === undefined ? 0 : this.#newValue(answer);
  }

  /** Runs guest code until it has nothing to do, under a deadline (of `performance.now()`). */
  #guarded(deadline: number, work: () => void): Stop | undefined {
    this.#deadline = deadline;
    this.#stop = undefined;
    try {
      work();
      this.#pump();
    } catch (error) {
      this.#thrown = error;
      this.#stop ??= error instanceof RangeError ? "stack" : "trap";
    }
    return this.#stop;
  }

  /** What our own code threw, when a trap was no trap of the engine. */
  get thrown(): unknown {
    return this.#thrown;
  }

  #pump(): void {
    const { runtime } = this.#prepared.handles;
    const out = this.#prepared.image.dataEnd;
    while (this.#stop === undefined && !this.#ear.isOver() && this.#engine.isJobPending(runtime) !== 0) {
      this.#engine.freeValueOfRuntime(runtime, this.#engine.executeJobs(runtime, JOBS_AT_ONCE, out));
      if (performance.now() > this.#deadline) this.#stop ??= "time";
    }
  }

  #evaluate(source: string, fileName: string): number {
    const name = this.#prepared.image.dataEnd + 64;
    this.#write(fileName, name);
    return this.#withText(source, (at, length) =>
      this.#engine.evaluate(this.#prepared.handles.context, at, length, name, 0, 0),
    );
  }

  /** Calls a function of the guest. Its argument, if there is one, is given away; its result is the caller's. */
  #call(func: number, argument = 0): number {
    const { context, undefined: self } = this.#prepared.handles;
    const argv = this.#prepared.image.dataEnd + 16;
    this.#look();
    if (argument !== 0) this.#view.setUint32(argv, argument, true);
    const result = this.#engine.call(context, func, self, argument === 0 ? 0 : 1, argv);
    if (argument !== 0) this.#engine.freeValue(context, argument);
    return result;
  }

  /** If a call has thrown, that is the end of the run. What it threw because it was interrupted is nobody's error. */
  #hasThrown(result: number): boolean {
    const { context, fail } = this.#prepared.handles;
    const thrown = this.#engine.resolveException(context, result);
    if (thrown !== 0 && this.#stop === undefined) this.#call(fail, thrown);
    return thrown !== 0;
  }

  /** The value of a JSON text, or the text itself where the guest may as well read it. */
  #newValue(json: string): number {
    const { context } = this.#prepared.handles;
    const engine = this.#engine;
    const binary = json.length < SHORT_JSON ? undefined : binaryOfJson(json);
    const at = binary === undefined ? 0 : engine.malloc(binary.length);
    if (binary === undefined || at === 0) return this.#newString(json);
    this.#look();
    this.#bytes.set(binary, at);
    const buffer = engine.newArrayBuffer(context, at, binary.length); // the buffer is the owner of the bytes now
    const value = engine.readBinary(context, buffer);
    engine.freeValue(context, buffer);
    const thrown = engine.resolveException(context, value);
    if (thrown === 0) return value;
    engine.freeValue(context, thrown);
    engine.freeValue(context, value);
    return this.#newString(json);
  }

  #newString(text: string): number {
    return this.#withText(text, (at) => this.#engine.newString(this.#prepared.handles.context, at));
  }

  /** A text of the guest, if it is not longer than that: measured before it is copied. */
  #text(value: number, mostBytes: number): string | undefined {
    const { context } = this.#prepared.handles;
    const at = this.#engine.getString(context, value);
    if (at === 0) return undefined;
    this.#look();
    const end = this.#bytes.indexOf(0, at);
    const text = end < at || end - at > mostBytes ? undefined : this.#bytes.toString("utf8", at, end);
    this.#engine.freeString(context, at);
    return text;
  }

  /** JSON of a value of the guest, if that is certain and not longer than that. */
  #json(value: number, mostBytes: number): string | undefined {
    const { context } = this.#prepared.handles;
    const engine = this.#engine;
    const written = engine.writeBinary(context, value);
    const thrown = engine.resolveException(context, written);
    let json: string | undefined;
    if (thrown === 0) {
      const at = engine.getArrayBuffer(context, written);
      const length = engine.getArrayBufferLength(context, written);
      json = jsonOfBinary(Buffer.from(this.#memory.buffer, at, length), mostBytes);
    } else engine.freeValue(context, thrown);
    engine.freeValue(context, written);
    return json;
  }

  /** Puts a text with a NUL behind it where the guest can read it. */
  #withText(text: string, use: (at: number, length: number) => number): number {
    const { dataEnd } = this.#prepared.image;
    if (text.length * 3 < SCRATCH_BYTES) {
      const at = dataEnd + 256;
      return use(at, this.#write(text, at));
    }
    const at = this.#engine.malloc(Buffer.byteLength(text) + 1);
    if (at === 0) {
      this.#stop = "memory";
      throw new Error("no room for a text");
    }
    try {
      return use(at, this.#write(text, at));
    } finally {
      this.#engine.free(at);
    }
  }

  #write(text: string, at: number): number {
    this.#look();
    const length = this.#bytes.write(text, at, "utf8");
    this.#bytes[at + length] = 0;
    if (at < this.#prepared.image.heapStart) this.#stackUse.textEnd = Math.max(this.#stackUse.textEnd, at + length);
    return length;
  }

  /** Looks at the memory as it is now. */
  #look(): void {
    const { buffer } = this.#memory;
    if (buffer === this.#view.buffer) return;
    this.#bytes = Buffer.from(buffer);
    this.#view = new DataView(buffer);
  }

  #restore(): void {
    restoreImage(this.#memory, this.#prepared.image, this.#range, this.#stackUse);
    this.#stackUse = { textEnd: this.#prepared.image.dataEnd, gap: STACK_GAP.small };
    this.#engine.stackRestore(this.#stackTop);
    this.#stop = undefined;
  }
}
