import { NestedTooDeeply } from "../codec/format.ts";
import { jsonToValue } from "../codec/json-to-value.ts";
import type { Engine } from "../engine/quickjs.ts";
import type { Handles } from "./isolate.ts";
import { valueToJson } from "../codec/value-to-json.ts";
import { isPlainValue } from "../codec/size.ts";
import type { GuestValue } from "../codec/guest-value.ts";

/** Texts up to this size are passed in the unused low part of the C stack, larger ones through the guest's heap. */
const SCRATCH_BYTES = 3 << 20;

/** JSON of less than this the guest reads as fast as the engine's own form. */
const SHORT_JSON = 200;

/** JSON of more than this is worth a look at whether there is room for it. */
const LONG_JSON = 1 << 20;

/** A form of so many bytes the host's thread reads itself: JSON in between costs more than the way that bytes take. */
const LONG_FORM = 8 << 10;

/** JSON is at most so many times as long as its binary form and its value together: nothing is longer than escapes. */
const MIN_SHARE = 3;

/** What the engine says when it cannot go any deeper into a value. */
const STACK_OVERFLOW = "InternalError: stack overflow";

/** The guest's memory cannot hold what it is given. */
export class OutOfMemory extends Error {}

/** Carries texts and values into the memory of a guest and out of it. */
export class GuestValues {
  readonly #memory: WebAssembly.Memory;
  readonly #engine: Engine;
  readonly #context: number;
  /** Where texts are put: `scratch` to `scratch + SCRATCH_BYTES`. */
  readonly #scratch: number;
  /** Over the memory as it was when we last looked: growth gives it another buffer. */
  #bytes: Buffer;
  #view: DataView;
  /** Where the texts end that were put into the scratch. */
  scratchEnd: number;

  constructor(memory: WebAssembly.Memory, engine: Engine, { context }: Handles, scratch: number) {
    this.#memory = memory;
    this.#engine = engine;
    this.#context = context;
    this.#scratch = scratch;
    this.scratchEnd = scratch;
    this.#bytes = Buffer.from(memory.buffer);
    this.#view = new DataView(memory.buffer);
  }

  /** The memory as it is now. */
  get bytes(): Buffer {
    if (this.#bytes.length === 0) this.#look();
    return this.#bytes;
  }

  get view(): DataView {
    if (this.#bytes.length === 0) this.#look();
    return this.#view;
  }

  /** The value of a JSON text, or the text itself where the guest may as well read it. */
  ofJson(json: string): number {
    const engine = this.#engine;
    if (json.length > LONG_JSON) this.#expectRoom(json.length / MIN_SHARE);
    const binary = json.length < SHORT_JSON ? undefined : jsonToValue(json);
    const at = binary === undefined ? 0 : engine.malloc(binary.length);
    if (binary === undefined || at === 0) return this.ofText(json);
    this.bytes.set(binary, at);
    const buffer = engine.newArrayBuffer(this.#context, at, binary.length); // the buffer is the owner of the bytes now
    const value = engine.readBinary(this.#context, buffer);
    engine.freeValue(this.#context, buffer);
    const thrown = engine.resolveException(this.#context, value);
    if (thrown === 0) return value;
    engine.freeValue(this.#context, thrown);
    engine.freeValue(this.#context, value);
    return this.ofText(json);
  }

  ofText(text: string): number {
    return this.withText(text, (at) => this.#engine.newString(this.#context, at));
  }

  /** A text of the guest, if it is not longer than that: measured before it is copied. */
  text(value: number, mostBytes: number): string | undefined {
    const at = this.#engine.getString(this.#context, value);
    if (at === 0) return undefined;
    const { bytes } = this;
    const end = bytes.indexOf(0, at);
    const text = end < at || end - at > mostBytes ? undefined : bytes.toString("utf8", at, end);
    this.#engine.freeString(this.#context, at);
    return text;
  }

  /**
   * A value of the guest as JSON, if that is certain and not longer than that, or as bytes, if there are many. Throws
   * `NestedTooDeeply` for one that has certainly, or perhaps, more levels than may cross.
   */
  plain(value: number, mostBytes: number, orBytes: boolean): GuestValue | undefined {
    const context = this.#context;
    const engine = this.#engine;
    const written = engine.writeBinary(context, value);
    const thrown = engine.resolveException(context, written);
    try {
      if (thrown !== 0) {
        if (this.text(thrown, mostBytes) === STACK_OVERFLOW) throw new NestedTooDeeply();
        return undefined;
      }
      const at = engine.getArrayBuffer(context, written);
      const length = engine.getArrayBufferLength(context, written);
      const { bytes } = this;
      return orBytes && length >= LONG_FORM && isPlainValue(bytes, mostBytes, at, at + length)
        ? new Uint8Array(bytes.subarray(at, at + length))
        : valueToJson(bytes, mostBytes, at, at + length);
    } finally {
      if (thrown !== 0) engine.freeValue(context, thrown);
      engine.freeValue(context, written);
    }
  }

  /** Puts a text with a NUL behind it where the guest can read it. */
  withText(text: string, use: (at: number, length: number) => number): number {
    if (text.length * 3 < SCRATCH_BYTES) return use(this.#scratch, this.write(text, this.#scratch));
    const at = this.#engine.malloc(Buffer.byteLength(text) + 1);
    if (at === 0) throw new OutOfMemory("no room for a text");
    try {
      return use(at, this.write(text, at));
    } finally {
      this.#engine.free(at);
    }
  }

  /** Writes a text with a NUL behind it; returns its length in bytes. */
  write(text: string, at: number): number {
    const { bytes } = this;
    const length = bytes.write(text, at, "utf8");
    bytes[at + length] = 0;
    if (at <= this.#scratch + SCRATCH_BYTES) this.scratchEnd = Math.max(this.scratchEnd, at + length);
    return length;
  }

  #expectRoom(bytes: number): void {
    const at = this.#engine.malloc(Math.ceil(bytes));
    if (at === 0) throw new OutOfMemory("no room for a value");
    this.#engine.free(at);
  }

  #look(): void {
    this.#bytes = Buffer.from(this.#memory.buffer);
    this.#view = new DataView(this.#memory.buffer);
  }
}
