/** A JSON Schema, 2020-12 or draft-07, as a provider gave it. Untrusted until the registry has read it. */
export type JsonSchema = Readonly<Record<string, unknown>>;

export type Json = string | number | boolean | null | readonly Json[] | { readonly [key: string]: Json };

/** True for `{…}`: not null, not an array. */
export function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

/** Parses JSON; `undefined` for another text. */
export function parseJson(text: string): unknown {
  try {
    return JSON.parse(text) as unknown;
  } catch {
    return undefined;
  }
}

/** Parses the JSON of an object; `undefined` for another text. */
export function parseJsonObject(text: string): Readonly<Record<string, unknown>> | undefined {
  const value = parseJson(text);
  return isRecord(value) ? value : undefined;
}

/** True for a list of texts. */
export function isTextList(value: unknown): value is readonly string[] {
  return Array.isArray(value) && value.every((each) => typeof each === "string");
}

/** Returns the value at a path of own members of objects, and of items of lists by their numbers, or `undefined`. */
export function getValueAt(value: unknown, path: readonly (string | number)[]): unknown {
  return path.reduce<unknown>((holder, name) => {
    if (Array.isArray(holder)) return typeof name === "number" ? (holder as readonly unknown[])[name] : undefined;
    return isRecord(holder) && Object.hasOwn(holder, name) ? holder[name] : undefined;
  }, value);
}

/** Returns a list as it is, and an empty one for any other value. */
export function toList(value: unknown): readonly unknown[] {
  return Array.isArray(value) ? value : [];
}

/** Returns a record as it is, and an empty one for any other value. */
export function toRecord(value: unknown): Record<string, unknown> {
  return isRecord(value) ? value : {};
}
