import { MASK, maskEntry } from "../../config/index.ts";
import { isRecord } from "../../model/json.ts";
import { canonicalText } from "../../shared/digest.ts";
import { invalidRequest } from "./problem.ts";

type MaskedEntry = Readonly<Record<string, unknown>>;

/**
 * Puts the secrets of an entry back into an edited copy of its masked form. Throws `REQUEST_INVALID` for a mask that stands where
 * the entry has no secret.
 */
export function restoreSecrets(edited: MaskedEntry, original: unknown): MaskedEntry {
  const restored = restore(edited, maskEntry(original), original);
  const mask = findMask(restored, "");
  if (mask !== undefined || !isRecord(restored))
    throw invalidRequest(`entry${mask} has ${MASK} in place of a secret that is not known there; write the secret`);
  return restored;
}

function restore(value: unknown, masked: unknown, original: unknown): unknown {
  if (canonicalText(value) === canonicalText(masked)) return original;
  if (Array.isArray(value) && Array.isArray(masked) && Array.isArray(original))
    return value.map((item, index) => restore(item, masked[index], original[index]));
  if (!isRecord(value) || !isRecord(masked) || !isRecord(original)) return value;
  return Object.fromEntries(
    Object.entries(value).map(([key, item]) => [key, restore(item, masked[key], original[key])]),
  );
}

/** Returns the path of the first text with a mask. */
function findMask(value: unknown, path: string): string | undefined {
  if (typeof value === "string") return value.includes(MASK) ? path : undefined;
  if (typeof value !== "object" || value === null) return undefined;
  for (const [key, item] of Object.entries(value)) {
    const found = findMask(item, `${path}.${key}`);
    if (found !== undefined) return found;
  }
  return undefined;
}
