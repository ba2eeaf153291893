import { BinaryCursor, isWide, NestedTooDeeply, signed, getByteLength, TAG } from "./format.ts";
import { DATE_TAG } from "../guest/host-protocol.ts";
import { JsonBytes } from "./json-bytes.ts";

/**
 * JSON of a value in the engine's binary form, which a guest writes five times as fast as JSON. Undefined for what has
 * no certain JSON (then the guest must write it), and for what is longer than that. Dates are tagged (`dates.ts`), which
 * does not count. The bytes may be anything, and so may the places that say where they are. Throws only `NestedTooDeeply`.
 */
export function valueToJson(bytes: Buffer, mostBytes: number, from = 0, to = bytes.length): string | undefined {
  try {
    return new JsonWriter(bytes, mostBytes, from, to).write();
  } catch (error) {
    if (error instanceof NestedTooDeeply) throw error;
    return undefined; // not ours, cut off or too long
  }
}

class JsonWriter extends BinaryCursor {
  readonly #json: JsonBytes;
  /** The names of properties: where each begins, and its head. */
  readonly #names: number[] = [];
  readonly #heads: number[] = [];
  /** The name that is the tag of dates, if the value has it itself. */
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

  /** What has the name of the tag, and is no date. */
  #boxed(tag: number): void {
    this.#json.uncounted("[");
    this.#value(tag);
    this.#json.uncounted("]");
  }

  /** JSON leaves out what is undefined. */
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
