import { isRecord } from "./json.ts";

/** JSON of a value on its way to the guest; `tagged` says that it holds `$bytes` or `$date`. */
export interface Encoded {
  readonly json: string;
  readonly tagged: boolean;
}

/**
 * What a method returned, as JSON for the guest. Bytes and dates keep their kind; a Map with text keys becomes an
 * object, a Set a list, a BigInt a number where that is exact and else text; what JSON has no word for is null.
 */
export function encodeForGuest(value: unknown): Encoded {
  let tagged = false;
  const json = JSON.stringify(value, function replace(this: Record<string, unknown>, key, current: unknown) {
    const original = this[key];
    if (original instanceof Date) {
      tagged = true;
      return { $date: Number.isNaN(original.getTime()) ? "" : original.toISOString() };
    }
    if (original instanceof Uint8Array) {
      tagged = true;
      return { $bytes: Buffer.from(original.buffer, original.byteOffset, original.byteLength).toString("base64") };
    }
    if (original instanceof Map)
      return [...original.keys()].every((each) => typeof each === "string")
        ? Object.fromEntries(original)
        : [...original];
    if (original instanceof Set) return [...original];
    if (typeof current === "bigint")
      return Number.isSafeInteger(Number(current)) ? Number(current) : current.toString();
    return current;
  });
  return { json: (json as string | undefined) ?? "null", tagged };
}

/** A value that the guest returned: `{"$bytes": base64}` become bytes again, everything else is plain JSON. */
export function decodeFromGuest(json: string): unknown {
  if (json === "") return undefined;
  const value: unknown = JSON.parse(json);
  return json.includes('"$bytes"') ? reviveBytes(value) : value;
}

function reviveBytes(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(reviveBytes);
  if (!isRecord(value)) return value;
  const keys = Object.keys(value);
  const bytes = value["$bytes"];
  if (keys.length === 1 && typeof bytes === "string") return new Uint8Array(Buffer.from(bytes, "base64"));
  for (const key of keys) {
    Object.defineProperty(value, key, {
      value: reviveBytes(value[key]),
      enumerable: true,
      writable: true,
      configurable: true,
    });
  }
  return value;
}
