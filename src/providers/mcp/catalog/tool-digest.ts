import { createHash } from "node:crypto";

import { isRecord } from "../../../model/json.ts";

/** Everything of a tool's definition that changes what a model is told or what a call does. */
const PINNED_FIELDS = ["name", "title", "description", "inputSchema", "outputSchema", "annotations"] as const;

/**
 * SHA-256, hexadecimal, of what matters of a tool's definition, whatever the order of its keys. `undefined` if the
 * definition nests too deeply to be read.
 */
export function hashTool(definition: Readonly<Record<string, unknown>>): string | undefined {
  try {
    return createHash("sha256")
      .update(canonicalJson(selectPinnedFields(definition)))
      .digest("hex");
  } catch (thrown) {
    if (thrown instanceof RangeError) return undefined;
    throw thrown;
  }
}

/** What of a definition a digest is made of. */
export function selectPinnedFields(definition: Readonly<Record<string, unknown>>): Readonly<Record<string, unknown>> {
  return Object.fromEntries(PINNED_FIELDS.map((key) => [key, definition[key]]));
}

/** JSON with sorted keys. */
function canonicalJson(value: unknown): string {
  return JSON.stringify(value, (_key, inner: unknown) =>
    isRecord(inner) ? Object.fromEntries(Object.entries(inner).sort(([a], [b]) => (a < b ? -1 : 1))) : inner,
  );
}
