import { ValueTooDeep } from "../codec/format.ts";
import { jsonToValue } from "../codec/json-to-value.ts";
import { STACK_OVERFLOW } from "../engine/error-messages.ts";
import type { Engine } from "../engine/quickjs.ts";
import type { Handles } from "../engine/prepared-snapshot.ts";
import { valueToJson } from "../codec/value-to-js.ts";
import { fitsInJson } from "../codec/size.ts";
import type { GuestValue } from "../codec/guest-value.ts";

/** Texts up to this size are passed in the unused low part of the C stack, larger ones through the guest's heap. */
const SCRATCH_BYTES = 3 << 20;

/** The guest parses JSON shorter than this as fast as the engine's own form. */
const SHORT_JSON = 200;

/** For JSON longer than this, a test allocation checks first that the guest's heap can hold it. */
const LONG_JSON = 1 << 20;

/** From this size on, the host's thread decodes the binary form itself: JSON in between costs more than passing bytes. */
const LONG_FORM = 8 << 10;

/** JSON is at most this many times as long as its binary form and its value together; escapes are the longest case. */
const MIN_SHARE = 3;

/** Thrown if the guest's memory cannot hold a text or a value. */
export class OutOfMemory extends Error {}

/** Copies texts and values into the memory of a guest and out of it. */
export class GuestValues {
  readonly #memory: WebAssembly.Memory;
  readonly #engine: Engine;
  readonly #context: number;
  /** Start of the buffer for texts, which has `SCRATCH_BYTES`. */
  readonly #scratch: number;
  /** View of the memory's buffer when it was last read: growth replaces the buffer. */
  #bytes: Buffer;
  #view: DataView;
  /** End of the texts that were written into the scratch buffer. */
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

  /** The current memory. */
  get bytes(): Buffer {
    if (this.#bytes.length === 0) this.#refreshViews();
    return this.#bytes;
  }

  get view(): DataView {
    if (this.#bytes.length === 0) this.#refreshViews();
    return this.#view;
  }

  /** Creates the value of a JSON text, or the text itself if the guest should parse it. */
  ofJson(json: string): number {
    const engine = this.#engine;
    if (json.length > LONG_JSON) this.#requireHeap(json.length / MIN_SHARE);
    const binary = json.length < SHORT_JSON ? undefined : jsonToValue(json);
    const at = binary === undefined ? 0 : engine.malloc(binary.length);
    if (binary === undefined || at === 0) return this.ofText(json);
    this.bytes.set(binary, at);
    const buffer = engine.newArrayBuffer(this.#context, at, binary.length); // the buffer owns the bytes now
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

  /** Reads a text of the guest; undefined if it is longer than `maxBytes`, which is measured before copying. */
  text(value: number, maxBytes: number): string | undefined {
    const at = this.#engine.getString(this.#context, value);
    if (at === 0) return undefined;
    const { bytes } = this;
    const end = bytes.indexOf(0, at);
    const text = end < at || end - at > maxBytes ? undefined : bytes.toString("utf8", at, end);
    this.#engine.freeString(this.#context, at);
    return text;
  }

  /**
   * Reads a value of the guest as JSON, or as bytes if `orBytes` is set and it is long. Undefined if it has no certain JSON
   * or its JSON is longer than `maxBytes`. Throws `ValueTooDeep` if it has, or may have, more levels than allowed.
   */
  plain(value: number, maxBytes: number, orBytes: boolean): GuestValue | undefined {
    const context = this.#context;
    const engine = this.#engine;
    const written = engine.writeBinary(context, value);
    const thrown = engine.resolveException(context, written);
    try {
      if (thrown !== 0) {
        if (this.text(thrown, maxBytes) === STACK_OVERFLOW) throw new ValueTooDeep();
        return undefined;
      }
      const at = engine.getArrayBuffer(context, written);
      const length = engine.getArrayBufferLength(context, written);
      const { bytes } = this;
      if (!orBytes || length < LONG_FORM) return valueToJson(bytes, maxBytes, at, at + length);
      return fitsInJson(bytes, maxBytes, at, at + length) ? new Uint8Array(bytes.subarray(at, at + length)) : undefined;
    } finally {
      if (thrown !== 0) engine.freeValue(context, thrown);
      engine.freeValue(context, written);
    }
  }

  /** Writes a NUL-terminated text into the guest's memory while `use` runs. */
  withText(text: string, use: (at: number, length: number) => number): number {
    if (text.length * 3 < SCRATCH_BYTES) return use(this.#scratch, this.write(text, this.#scratch));
    const at = this.#engine.malloc(Buffer.byteLength(text) + 1);
    if (at === 0) throw new OutOfMemory("the heap cannot hold a text");
    try {
      return use(at, this.write(text, at));
    } finally {
      this.#engine.free(at);
    }
  }

  /** Writes a NUL-terminated text; returns its length in bytes. */
  write(text: string, at: number): number {
    const { bytes } = this;
    const length = bytes.write(text, at, "utf8");
    bytes[at + length] = 0;
    if (at <= this.#scratch + SCRATCH_BYTES) this.scratchEnd = Math.max(this.scratchEnd, at + length);
    return length;
  }

  #requireHeap(bytes: number): void {
    const at = this.#engine.malloc(Math.ceil(bytes));
    if (at === 0) throw new OutOfMemory("the heap cannot hold a value");
    this.#engine.free(at);
  }

  #refreshViews(): void {
    this.#bytes = Buffer.from(this.#memory.buffer);
    this.#view = new DataView(this.#memory.buffer);
  }
}
