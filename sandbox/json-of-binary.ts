import { TAG, VERSION } from "./binary-form.ts";
import { JsonBytes } from "./json-bytes.ts";

/** Values with more names of properties are left to the guest: what we keep of each is more than it may have written. */
const MOST_NAMES = 1 << 16;

/**
 * JSON of a value in the engine's binary form, which a guest writes five times as fast as JSON. Undefined for what has
 * no certain JSON (then the guest must write it), and for what is longer than that. The bytes may be anything, and so
 * may the places that say where they are.
 */
export function jsonOfBinary(bytes: Buffer, mostBytes: number, from = 0, to = bytes.length): string | undefined {
  try {
    return new Reader(bytes, mostBytes, from, to).read();
  } catch {
    return undefined; // not ours, cut off, too deep or too long
  }
}

class Reader {
  readonly #bytes: Buffer;
  readonly #json: JsonBytes;
  /** The names of properties: where each begins, and its head. */
  readonly #names: number[] = [];
  readonly #heads: number[] = [];
  readonly #end: number;
  #at: number;

  constructor(bytes: Buffer, mostBytes: number, from: number, to: number) {
    if (from < 0 || to < from || to > bytes.length) throw new Error("outside of the memory");
    this.#bytes = bytes;
    this.#at = from;
    this.#end = to;
    this.#json = new JsonBytes(to - from, mostBytes);
  }

  read(): string {
    if (this.#byte() !== VERSION) throw new Error("another version");
    const names = this.#number();
    if (names > MOST_NAMES) throw new Error("too many names");
    for (let count = names; count > 0; count--) {
      const head = this.#number();
      this.#names.push(this.#skip(sizeOf(head)));
      this.#heads.push(head);
    }
    const tag = this.#byte();
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
      case TAG.int: {
        const number = this.#number();
        return json.ascii(String((number >>> 1) ^ -(number & 1)));
      }
      case TAG.float: {
        const number = this.#bytes.readDoubleLE(this.#skip(8));
        return json.ascii(Number.isFinite(number) ? String(number) : "null");
      }
      case TAG.string: {
        const head = this.#number();
        return this.#string(this.#skip(sizeOf(head)), head);
      }
      case TAG.object:
        return this.#object();
      case TAG.array:
        return this.#array();
      case TAG.date:
        return this.#date();
      default:
        throw new Error("no JSON for this");
    }
  }

  /** JSON leaves out what is undefined. */
  #object(): void {
    let separator = "{";
    for (let count = this.#number(); count > 0; count--) {
      const atom = this.#number();
      const tag = this.#byte();
      if (tag === TAG.undefined) continue;
      this.#json.ascii(separator);
      this.#name(atom);
      this.#value(tag);
      separator = ",";
    }
    this.#json.ascii(separator === "{" ? "{}" : "}");
  }

  #array(): void {
    let separator = "[";
    for (let count = this.#number(); count > 0; count--) {
      this.#json.ascii(separator);
      this.#value(this.#byte());
      separator = ",";
    }
    this.#json.ascii(separator === "[" ? "[]" : "]");
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
    const end = at + sizeOf(head);
    if (isWide(head)) this.#json.wide(this.#bytes, at, end);
    else this.#json.narrow(this.#bytes, at, end);
  }

  /** Milliseconds since 1970, as a number. */
  #date(): void {
    const tag = this.#byte();
    const number = tag === TAG.int ? this.#number() : undefined;
    if (number === undefined && tag !== TAG.float) throw new Error("no date");
    const milliseconds =
      number === undefined ? this.#bytes.readDoubleLE(this.#skip(8)) : (number >>> 1) ^ -(number & 1);
    this.#json.ascii(JSON.stringify(new Date(milliseconds)));
  }

  #byte(): number {
    return this.#bytes[this.#skip(1)] as number;
  }

  /** 32 bits, seven in each byte, the low ones first. */
  #number(): number {
    let number = 0;
    for (let shift = 0; shift < 35; shift += 7) {
      const byte = this.#byte();
      number |= (byte & 127) << shift;
      if (byte < 128) return number >>> 0;
    }
    throw new Error("no number");
  }

  #skip(count: number): number {
    const at = this.#at;
    this.#at += count;
    if (this.#at > this.#end) throw new Error("cut off");
    return at;
  }
}

/** The head of a string: how many units it has, and whether they take two bytes each. */
function sizeOf(head: number): number {
  return isWide(head) ? (head >>> 1) * 2 : head >>> 1;
}

function isWide(head: number): boolean {
  return (head & 1) !== 0;
}
