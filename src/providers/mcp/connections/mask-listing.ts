import { isRecord } from "../../../model/json.ts";
import type { KnownSecrets } from "../../../shared/secrets.ts";

/**
 * Returns a listing whose descriptions do not have the values of the request with which it was listed: all callers see it. The names
 * of tools and parameters stay, as a caller could choose a value that is one of them.
 */
export function maskDescriptions<Value>(value: Value, secrets: KnownSecrets): Value {
  return mask(value, secrets) as Value; // it has the same shape
}

function mask(value: unknown, secrets: KnownSecrets): unknown {
  if (Array.isArray(value)) return value.map((item) => mask(item, secrets));
  if (!isRecord(value)) return value;
  const entries = Object.entries(value).map(([key, item]): [string, unknown] => [
    key,
    typeof item === "string" && TEXTS.has(key) ? secrets.mask(item) : mask(item, secrets),
  ]);
  return Object.fromEntries(entries);
}

const TEXTS: ReadonlySet<string> = new Set(["description", "instructions", "title"]);
