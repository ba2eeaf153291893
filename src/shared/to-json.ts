/**
 * Writes any value as JSON: bytes as base64 in `$bytes`, a BigInt as a string, a Map as an object, a Set as an array.
 */
export function toJson(value: unknown): string {
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
