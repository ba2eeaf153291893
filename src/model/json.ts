/** A JSON Schema, 2020-12 or draft-07, as a provider gave it. Untrusted until the registry has compiled it. */
export type JsonSchema = Readonly<Record<string, unknown>>;

export type Json = string | number | boolean | null | readonly Json[] | { readonly [key: string]: Json };

/** True for `{…}`: not null, not an array. */
export function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

/** True for a list of texts. */
export function isTextList(value: unknown): value is readonly string[] {
  return Array.isArray(value) && value.every((each) => typeof each === "string");
}
