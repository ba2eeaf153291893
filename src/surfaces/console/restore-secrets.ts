import { MASK, maskEntry } from "../../config/index.ts";
import { isRecord } from "../../model/json.ts";
import { canonicalText } from "../../shared/digest.ts";
import { invalidRequest } from "./problem.ts";

type MaskedEntry = Readonly<Record<string, unknown>>;

/**
 * Puts the secrets of an entry back into an edited copy of its masked form. Throws `REQUEST_INVALID` for a mask that stands where
 * the entry has no secret, and for any mask in an entry that would send its secrets elsewhere: to another command, with other
 * arguments, or to another origin.
 */
export function restoreSecrets(edited: MaskedEntry, original: unknown): MaskedEntry {
  const masked = maskEntry(original);
  if (findMask(edited, "") !== undefined) requireSameTarget(edited, masked);
  const restored = restore(edited, masked, original);
  const mask = findMask(restored, "");
  if (mask !== undefined || !isRecord(restored))
    throw invalidRequest(`entry${mask} has ${MASK} in place of a secret that is not known there; write the secret`);
  return restored;
}

/** The fields that decide who receives the secrets of an entry, as clients of every kind write them. */
const TARGET_FIELDS = ["command", "args", "cwd", "url", "serverUrl", "httpUrl", "type", "transport", "proxy"] as const;

function requireSameTarget(edited: MaskedEntry, masked: unknown): void {
  const before: MaskedEntry = isRecord(masked) ? masked : {};
  const changed = TARGET_FIELDS.find(
    (name) => canonicalText(getTarget(edited[name])) !== canonicalText(getTarget(before[name])),
  );
  if (changed === undefined) return;
  throw invalidRequest(
    `entry.${changed} has changed, so ${MASK} is not replaced; write every secret of the entry again`,
  );
}

/** Returns the origin of an address, and any other value as it is. */
function getTarget(value: unknown): unknown {
  if (typeof value !== "string" || !/^https?:/i.test(value) || !URL.canParse(value)) return value ?? null;
  return new URL(value).origin;
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
