/** JSON of whatever a method or a run gave: bytes as base64 in `$bytes`, a BigInt as text, a Map as an object. */
export function toJson(value: unknown): string {
  const replace = function (this: Record<string, unknown>, key: string, current: unknown): unknown {
    const original = this[key]; // a Buffer has made itself an object by now
    if (original instanceof Uint8Array) return { $bytes: Buffer.from(original).toString("base64") };
    if (original instanceof Map) return Object.fromEntries(original);
    if (original instanceof Set) return [...original];
    return typeof current === "bigint" ? current.toString() : current;
  };
  const json: string | undefined = JSON.stringify(value, replace);
  return json ?? "null";
}
