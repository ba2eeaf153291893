import { ValueTooDeep, TAG, ValueReader } from "./format.ts";
import { fitsInJson } from "./size.ts";
import { DATE_TAG } from "../guest/host-protocol.ts";

/** Bytes of text decoded at once. A short string is a slice of such a page, and keeps no more than the page alive. */
const PAGE_BYTES = 1 << 10;

/** Values up to this size are measured after the conversion, which takes no longer than measuring them. */
const SHORT_BYTES = 1 << 10;
/** Maximum bytes of UTF-8 for a unit of a string. */
const MAX_UTF8_BYTES = 3;

/** Dates stay dates, become texts, or become tagged texts (`shared/dates.ts`). */
export type DatesAs = "dates" | "text" | "tagged";

/** A decoded value, and the property names that may occur in it. */
export interface DecodedBytes {
  readonly value: unknown;
  readonly names: readonly string[];
}

/**
 * Decodes a value in the engine's form to what `JSON.parse` would return for its JSON, except for dates. Throws if the
 * bytes are not in that form.
 */
export function valueToJs(bytes: Buffer, datesAs: DatesAs = "text"): DecodedBytes {
  return new JsReader(bytes, datesAs, 0, bytes.length).read();
}

/**
 * Converts a value in the engine's form, which a guest writes five times as fast as JSON, to JSON with tagged dates.
 * Undefined if it has no certain JSON (then the guest must write it), or has more than `maxBytes` without the
 * tags. The bytes and their positions may be hostile. Throws only `ValueTooDeep`.
 */
export function valueToJson(bytes: Buffer, maxBytes: number, from = 0, to = bytes.length): string | undefined {
  const isShort = to - from <= SHORT_BYTES;
  if (!isShort && !fitsInJson(bytes, maxBytes, from, to)) return undefined;
  const json = toTaggedJson(bytes, from, to);
  if (!isShort || json === undefined || json.length * MAX_UTF8_BYTES <= maxBytes) return json;
  return fitsInJson(bytes, maxBytes, from, to) ? json : undefined;
}

function toTaggedJson(bytes: Buffer, from: number, to: number): string | undefined {
  try {
    return JSON.stringify(new JsReader(bytes, "tagged", from, to).read().value);
  } catch (error) {
    if (error instanceof ValueTooDeep) throw error;
    return undefined; // cut off, or a value that JSON cannot hold
  }
}

class JsReader extends ValueReader<unknown> {
  readonly #datesAs: DatesAs;
  #names: string[] = [];
  /** True if a name needs care: assigning to one in `Object.prototype` may not create a property, one may be the date's tag. */
  #isSpecial = false;
  #page = "";
  #pageAt = 0;

  constructor(bytes: Buffer, datesAs: DatesAs, from: number, to: number) {
    super(bytes, from, to);
    this.#datesAs = datesAs;
  }

  read(): DecodedBytes {
    const { names, tag } = this.head();
    this.#names = names as string[];
    this.#isSpecial = this.#names.some((name) => name in Object.prototype || name === DATE_TAG);
    return { value: this.value(tag), names: this.#names };
  }

  protected override readConstant(value: boolean | null): boolean | null {
    return value;
  }

  protected override readNumber(value: number): number {
    return value;
  }

  protected override readDate(date: Date): unknown {
    if (this.#datesAs === "dates") return date;
    return this.#datesAs === "tagged" ? { [DATE_TAG]: date } : date.toJSON();
  }

  protected override readObject(length: number): Record<PropertyKey, unknown> {
    const object: Record<PropertyKey, unknown> = {};
    for (let count = length; count > 0; count--) {
      const atom = this.number();
      const name = (atom & 1) === 0 ? this.#names[(atom >>> 1) - 1] : atom >>> 1;
      if (name === undefined) throw new Error("no such name");
      const tag = this.byte();
      if (tag === TAG.undefined) continue;
      if (this.#isSpecial) this.#define(object, name, this.value(tag));
      else object[name] = this.value(tag);
    }
    return object;
  }

  /** Adds a member under any name. Under the name of the tag, a value that is not a date is put in a list. */
  #define(object: object, name: PropertyKey, member: unknown): void {
    const value = name === DATE_TAG && this.#datesAs === "tagged" ? [member] : member;
    Object.defineProperty(object, name, { value, configurable: true, enumerable: true, writable: true });
  }

  protected override readArray(count: number): unknown[] {
    // oxlint-disable-next-line no-new-array -- a list that grows takes three times as long
    const list = new Array<unknown>(count);
    for (let i = 0; i < count; i++) list[i] = this.value(this.byte());
    return list;
  }

  protected override readString(from: number, to: number, isWide: boolean): string {
    if (isWide) return this.bytes.toString("utf16le", from, to);
    if (to - from >= PAGE_BYTES) return this.bytes.toString("latin1", from, to);
    if (from < this.#pageAt || to > this.#pageAt + this.#page.length) {
      this.#page = this.bytes.toString("latin1", from, from + PAGE_BYTES);
      this.#pageAt = from;
    }
    return this.#page.slice(from - this.#pageAt, to - this.#pageAt);
  }
}
