import type { DecodedValue } from "../../../sandbox/index.ts";
import { isRecord } from "../../model/json.ts";
import { MAX_DEPTH } from "./value-size.ts";

/** JSON of a value on its way to the guest; `tagged` says that it holds `$bytes`, `$date` or `$undefined`. */
export interface EncodedValue {
  readonly json: string;
  readonly tagged: boolean;
}

/**
 * Encodes a method's result as JSON for the guest; `undefined` if that is certainly longer than `maxCharacters`. Bytes
 * and dates keep their kind, and so does undefined in a list or by itself; a Map with text keys becomes an object, a Set and
 * an array of numbers a list, an Error its name and message, a BigInt a number where that is exact and else text; a value
 * that JSON cannot represent is null.
 */
export function encodeForGuest(value: unknown, maxCharacters: number): EncodedValue | undefined {
  const text = takeText(value);
  if (text !== undefined) return text.length > maxCharacters ? undefined : { json: text, tagged: false };
  const kind = classify(value, maxCharacters);
  if (kind === "long") return undefined;
  // Without a replacer function, `JSON.stringify` takes a third of the time.
  return kind === "plain" ? { json: JSON.stringify(value) ?? "null", tagged: false } : encodeSpecial(value);
}

/** The texts of values that arrived as JSON, until they are encoded again. Such a value must not be changed. */
const texts = new WeakMap<object, string>();

/** Parses JSON that another process wrote, and keeps the text for the guest. Throws a `SyntaxError` for any other text. */
export function parseResult(json: string): unknown {
  const value: unknown = JSON.parse(json);
  if (typeof value === "object" && value !== null) texts.set(value, json);
  return value;
}

function takeText(value: unknown): string | undefined {
  if (typeof value !== "object" || value === null) return undefined;
  const text = texts.get(value);
  if (text !== undefined) texts.delete(value);
  return text;
}

/** Tells whether JSON can represent a whole value, and whether its text is certainly too long; counts no further. */
function classify(value: unknown, maxCharacters: number): "plain" | "special" | "long" {
  const stack: unknown[] = [value];
  let budget = maxCharacters;
  let special = false;
  while (stack.length > 0) {
    const current = stack.pop();
    if (typeof current === "string") budget -= current.length;
    else if (typeof current === "object" && current !== null) {
      special ||= isSpecial(current);
      if (ArrayBuffer.isView(current)) budget -= current.byteLength;
      else budget -= pushMembers(current, stack, budget);
    } else {
      budget -= 1;
      special ||= typeof current === "bigint" || current === undefined;
    }
    if (budget < 0) return "long";
  }
  return special ? "special" : "plain";
}

/** Pushes the members on the stack; returns the least number of characters they take, without their values. */
function pushMembers(structure: object, stack: unknown[], budget: number): number {
  if (Array.isArray(structure)) {
    if (structure.length <= budget) for (const member of structure) stack.push(member);
    return structure.length;
  }
  let characters = 0;
  for (const key of Object.keys(structure)) {
    characters += key.length + 3; // at least its quotes and its colon, so that a cycle ends, too
    stack.push((structure as Record<string, unknown>)[key]);
    if (characters > budget) break;
  }
  return characters;
}

/** True for objects that JSON would write as `{}` or lossily, and for those with `toJSON`, which may return anything. */
function isSpecial(value: object): boolean {
  const prototype: unknown = Object.getPrototypeOf(value);
  if (prototype !== Object.prototype && prototype !== Array.prototype)
    if (ArrayBuffer.isView(value) || SPECIAL.some((kind) => value instanceof kind)) return true;
  return "toJSON" in value;
}

const SPECIAL = [Map, Set, ArrayBuffer, Error, RegExp] as const;

function encodeSpecial(value: unknown): EncodedValue {
  let tagged = false;
  const json: string | undefined = JSON.stringify(
    value,
    function replace(this: Record<string, unknown>, key, current: unknown) {
      const original = this[key];
      if (original === undefined && (key === "" || Array.isArray(this))) {
        tagged = true;
        return { $undefined: 1 };
      }
      if (original instanceof Date) {
        tagged = true;
        return { $date: Number.isNaN(original.getTime()) ? "" : original.toISOString() };
      }
      if (original instanceof Uint8Array || original instanceof ArrayBuffer || original instanceof DataView) {
        tagged = true;
        return { $bytes: toBuffer(original).toString("base64") };
      }
      if (ArrayBuffer.isView(original)) return Array.from(original as Float64Array);
      if (original instanceof Error)
        return Object.assign({}, original, { name: original.name, message: original.message });
      if (original instanceof RegExp) return String(original);
      if (original instanceof Map)
        return [...original.keys()].every((each) => typeof each === "string")
          ? Object.fromEntries(original)
          : [...original];
      if (original instanceof Set) return [...original];
      if (typeof current === "bigint")
        return Number.isSafeInteger(Number(current)) ? Number(current) : current.toString();
      return current;
    },
  );
  return { json: json ?? "null", tagged };
}

function toBuffer(value: ArrayBuffer | ArrayBufferView): Buffer {
  return value instanceof ArrayBuffer
    ? Buffer.from(value)
    : Buffer.from(value.buffer, value.byteOffset, value.byteLength);
}

/** Decodes a value that the guest returned: `{"$bytes": base64}` becomes bytes. `parse` handles other tagged values. */
export function decodeFromGuest(json: string, parse: (json: string) => unknown = JSON.parse): unknown {
  if (json === "") return undefined;
  const value = parse(json);
  return json.includes('"$bytes"') ? revive(value, "bytes") : value;
}

/** Decodes the arguments of a call, with `undefined` for each omitted one; `undefined` if they are not a list. */
export function decodeArguments(read: () => DecodedValue, bytesAs: "bytes" | "base64"): readonly unknown[] | undefined {
  let decoded: DecodedValue;
  try {
    decoded = read();
  } catch {
    return undefined; // only a corrupted guest sends this
  }
  if (!Array.isArray(decoded.value)) return undefined;
  const args: readonly unknown[] = decoded.mayHave("$undefined")
    ? decoded.value.map((each) => (isTagged(each, "$undefined") ? undefined : each))
    : decoded.value;
  return decoded.mayHave("$bytes") ? args.map((each) => revive(each, bytesAs)) : args;
}

function revive(value: unknown, bytesAs: "bytes" | "base64"): unknown {
  if (Array.isArray(value)) return value.map((each) => revive(each, bytesAs));
  if (!isRecord(value)) return value;
  const bytes = value["$bytes"];
  if (isTagged(value, "$bytes") && typeof bytes === "string") {
    return bytesAs === "base64" ? bytes : new Uint8Array(Buffer.from(bytes, "base64"));
  }
  for (const key of Object.keys(value)) {
    // Not an assignment: `__proto__` is a name like any other here.
    Object.defineProperty(value, key, {
      value: revive(value[key], bytesAs),
      enumerable: true,
      writable: true,
      configurable: true,
    });
  }
  return value;
}

function isTagged(value: unknown, tag: string): value is Record<string, unknown> {
  return isRecord(value) && Object.hasOwn(value, tag) && Object.keys(value).length === 1;
}

/**
 * Writes any value as JSON: bytes as base64 in `$bytes`, a BigInt as a string, a Map as an object, a Set as an array.
 */
export function toJson(value: unknown): string {
  // Without a replacer function, `JSON.stringify` takes a third of the time.
  return isPlain(value) ? JSON.stringify(value) : writeSpecial(value);
}

/** Converts any value to what its JSON says. A value that is that already is returned as it is. */
export function toPlainValue(value: unknown): unknown {
  return isJsonValue(value) ? value : JSON.parse(toJson(value));
}

/**
 * Tests whether a value and what its JSON says are equal. Deep and large values, which may contain themselves, count as
 * unequal.
 */
function isJsonValue(value: unknown): boolean {
  let level: unknown[] = [value];
  let count = 0;
  for (let depth = 0; level.length > 0; depth++) {
    count += level.length;
    if (depth > MAX_DEPTH || count > MAX_PLAIN_VALUES) return false;
    const below: unknown[] = [];
    for (const current of level) {
      if (typeof current === "string" || typeof current === "boolean" || current === null) continue;
      if (typeof current === "number" && Number.isFinite(current) && !Object.is(current, -0)) continue;
      if (typeof current !== "object" || !pushPlainMembers(current, below)) return false;
    }
    level = below;
  }
  return true;
}

/** Pushes the members of a list or a plain object; false for any other object. */
function pushPlainMembers(structure: object, members: unknown[]): boolean {
  const prototype: unknown = Object.getPrototypeOf(structure);
  if ((prototype !== Object.prototype && prototype !== Array.prototype) || "toJSON" in structure) return false;
  if (Array.isArray(structure) !== (prototype === Array.prototype)) return false;
  for (const member of Array.isArray(structure) ? structure : Object.values(structure)) members.push(member);
  return true;
}

/** Values with more members are converted by way of their JSON. */
const MAX_PLAIN_VALUES = 1_000_000;

/** Values with more characters, and those that contain themselves, do not count as plain. */
const MAX_PLAIN_CHARACTERS = 16 << 20;

function isPlain(value: unknown): boolean {
  return classify(value, MAX_PLAIN_CHARACTERS) === "plain" && typeof value !== "function" && typeof value !== "symbol";
}

function writeSpecial(value: unknown): string {
  const replace = function (this: Record<string, unknown>, key: string, current: unknown): unknown {
    const original = this[key]; // `current` is what the toJSON() of a Buffer returned
    if (original instanceof Uint8Array) return { $bytes: Buffer.from(original).toString("base64") };
    if (original instanceof Map) return Object.fromEntries(original);
    if (original instanceof Set) return [...original];
    return typeof current === "bigint" ? current.toString() : current;
  };
  const json: string | undefined = JSON.stringify(value, replace);
  return json ?? "null";
}
