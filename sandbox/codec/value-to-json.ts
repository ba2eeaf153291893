import { BinaryCursor, isWide, NestedTooDeeply, signed, getByteLength, TAG } from "./format.ts";
import { DATE_TAG } from "../guest/host-protocol.ts";
import { JsonBytes } from "./json-bytes.ts";

/**
 * Converts a value in the engine's binary form, which a guest writes five times as fast as JSON, to JSON. Undefined if it
 * has no certain JSON (then the guest must write it), or has more than `mostBytes`. Dates are tagged (`shared/dates.ts`);
 * tags do not count. The bytes and their positions `from` and `to` may be hostile. Throws only `NestedTooDeeply`.
 */
export function valueToJson(bytes: Buffer, mostBytes: number, from = 0, to = bytes.length): string | undefined {
  try {
    return new JsonWriter(bytes, mostBytes, from, to).write();
  } catch (error) {
    if (error instanceof NestedTooDeeply) throw error;
    return undefined; // not of the engine, cut off or too long
  }
}

class JsonWriter extends BinaryCursor {
  readonly #json: JsonBytes;
  /** Position and head of each property name. */
  readonly #names: number[] = [];
  readonly #heads: number[] = [];
  /** Index of the name that equals the tag of dates, if the value itself has one. */
  #ownTag: number | undefined;

  constructor(bytes: Buffer, mostBytes: number, from: number, to: number) {
    super(bytes, from, to);
    this.#json = new JsonBytes(to - from, mostBytes);
  }

  write(): string {
    for (let count = this.head(); count > 0; count--) {
      const head = this.number();
      const at = this.skip(getByteLength(head));
      if (
        getByteLength(head) === DATE_TAG.length &&
        this.bytes.toString("latin1", at, at + getByteLength(head)) === DATE_TAG
      )
        this.#ownTag = this.#names.length;
      this.#names.push(at);
      this.#heads.push(head);
    }
    const tag = this.byte();
    if (tag !== TAG.undefined) this.#value(tag);
    return this.#json.text();
  }

  #value(tag: number): void {
    const json = this.#json;
    switch (tag) {
      case TAG.null:
      case TAG.undefined:
        return json.ascii("null");
      case TAG.false:
        return json.ascii("false");
      case TAG.true:
        return json.ascii("true");
      case TAG.int:
        return json.ascii(String(signed(this.number())));
      case TAG.float: {
        const number = this.float();
        return json.ascii(Number.isFinite(number) ? String(number) : "null");
      }
      case TAG.string: {
        const head = this.number();
        return this.#string(this.skip(getByteLength(head)), head);
      }
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

  #date(date: Date): void {
    if (Number.isNaN(date.getTime())) return this.#json.ascii("null");
    this.#json.uncounted(`{"${DATE_TAG}":`);
    this.#json.ascii(JSON.stringify(date));
    this.#json.uncounted("}");
  }

  /** Writes a value under the name of the tag that is not a date, in a list of one. */
  #boxed(tag: number): void {
    this.#json.uncounted("[");
    this.#value(tag);
    this.#json.uncounted("]");
  }

  /** Writes an object; JSON leaves out undefined members. */
  #object(): void {
    this.enter();
    let separator = "{";
    for (let count = this.count(); count > 0; count--) {
      const atom = this.number();
      const tag = this.byte();
      if (tag === TAG.undefined) continue;
      this.#json.ascii(separator);
      this.#name(atom);
      if (this.#ownTag !== undefined && (atom & 1) === 0 && (atom >>> 1) - 1 === this.#ownTag) this.#boxed(tag);
      else this.#value(tag);
      separator = ",";
    }
    this.#json.ascii(separator === "{" ? "{}" : "}");
    this.leave();
  }

  #array(): void {
    this.enter();
    let separator = "[";
    for (let count = this.count(); count > 0; count--) {
      this.#json.ascii(separator);
      this.#value(this.byte());
      separator = ",";
    }
    this.#json.ascii(separator === "[" ? "[]" : "]");
    this.leave();
  }

  #name(atom: number): void {
    if ((atom & 1) !== 0) return this.#json.ascii(`"${atom >>> 1}":`);
    const at = this.#names[(atom >>> 1) - 1];
    const head = this.#heads[(atom >>> 1) - 1];
    if (at === undefined || head === undefined) throw new Error("no such name");
    this.#string(at, head);
    this.#json.ascii(":");
  }

  #string(at: number, head: number): void {
    const end = at + getByteLength(head);
    if (isWide(head)) this.#json.wide(this.bytes, at, end);
    else this.#json.narrow(this.bytes, at, end);
  }
}
