import { BinaryCursor, isWide, signed, getByteLength, TAG } from "./format.ts";

/** Bytes of text decoded at once. A short string is a slice of such a page, and keeps no more than the page alive. */
const PAGE_BYTES = 1 << 10;

/** A decoded value, and the property names that may occur in it. */
export interface DecodedBytes {
  readonly value: unknown;
  readonly names: readonly string[];
}

/**
 * Decodes a value in the engine's form to what `JSON.parse` would return for its JSON, except that dates may stay dates.
 * Throws if the bytes are not in that form.
 */
export function valueToJs(bytes: Buffer, datesAs: "dates" | "text" = "text"): DecodedBytes {
  return new Reader(bytes, datesAs).read();
}

class Reader extends BinaryCursor {
  readonly #keepsDates: boolean;
  #names: string[] = [];
  /** True if a name is also in `Object.prototype`: assigning to it may not create a property. */
  #isInherited = false;
  #page = "";
  #pageAt = 0;

  constructor(bytes: Buffer, datesAs: "dates" | "text") {
    super(bytes, 0, bytes.length);
    this.#keepsDates = datesAs === "dates";
  }

  read(): DecodedBytes {
    for (let count = this.head(); count > 0; count--) {
      const name = this.#string();
      this.#isInherited ||= name in Object.prototype;
      this.#names.push(name);
    }
    return { value: this.#value(this.byte()), names: this.#names };
  }

  #value(tag: number): unknown {
    switch (tag) {
      case TAG.null:
      case TAG.undefined:
        return null;
      case TAG.false:
        return false;
      case TAG.true:
        return true;
      case TAG.int:
        return signed(this.number());
      case TAG.float: {
        const number = this.float();
        return Number.isFinite(number) ? number + 0 : null; // JSON has no -0
      }
      case TAG.string:
        return this.#string();
      case TAG.object:
        return this.#object();
      case TAG.array:
        return this.#array();
      case TAG.date:
        return this.#date(new Date(this.date()));
      default:
        throw new Error("no JSON for this");
    }
  }

  #date(date: Date): Date | string | null {
    return this.#keepsDates && !Number.isNaN(date.getTime()) ? date : date.toJSON();
  }

  #object(): Record<PropertyKey, unknown> {
    this.enter();
    const object: Record<PropertyKey, unknown> = {};
    for (let count = this.count(); count > 0; count--) {
      const atom = this.number();
      const name = (atom & 1) === 0 ? this.#names[(atom >>> 1) - 1] : atom >>> 1;
      if (name === undefined) throw new Error("no such name");
      const tag = this.byte();
      if (tag === TAG.undefined) continue;
      if (this.#isInherited && name in Object.prototype) define(object, name, this.#value(tag));
      else object[name] = this.#value(tag);
    }
    this.leave();
    return object;
  }

  #array(): unknown[] {
    this.enter();
    const count = this.count();
    // oxlint-disable-next-line no-new-array -- a list that grows takes three times as long
    const list = new Array<unknown>(count);
    for (let i = 0; i < count; i++) list[i] = this.#value(this.byte());
    this.leave();
    return list;
  }

  #string(): string {
    const head = this.number();
    const size = getByteLength(head);
    const at = this.skip(size);
    return isWide(head) ? this.bytes.toString("utf16le", at, at + size) : this.#narrow(at, at + size);
  }

  #narrow(from: number, to: number): string {
    if (to - from >= PAGE_BYTES) return this.bytes.toString("latin1", from, to);
    if (from < this.#pageAt || to > this.#pageAt + this.#page.length) {
      this.#page = this.bytes.toString("latin1", from, from + PAGE_BYTES);
      this.#pageAt = from;
    }
    return this.#page.slice(from - this.#pageAt, to - this.#pageAt);
  }
}

function define(object: object, name: PropertyKey, value: unknown): void {
  Object.defineProperty(object, name, { value, configurable: true, enumerable: true, writable: true });
}
