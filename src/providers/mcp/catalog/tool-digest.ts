import { createHash } from "node:crypto";

import { isRecord } from "../../../model/json.ts";

/** The fields of a tool's definition that change what a model reads or what a call does. */
const PINNED_FIELDS = ["name", "title", "description", "inputSchema", "outputSchema", "annotations"] as const;

/**
 * Returns the hexadecimal SHA-256 of the pinned fields of a tool's definition, independent of the order of keys.
 * `undefined` if the definition is nested too deeply.
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

/** Returns the fields of a definition that its digest covers. */
export function selectPinnedFields(definition: Readonly<Record<string, unknown>>): Readonly<Record<string, unknown>> {
  return Object.fromEntries(PINNED_FIELDS.map((key) => [key, definition[key]]));
}

/** Formats a value as JSON with sorted keys. */
function canonicalJson(value: unknown): string {
  return JSON.stringify(value, (_key, inner: unknown) =>
    isRecord(inner) ? Object.fromEntries(Object.entries(inner).sort(([a], [b]) => (a < b ? -1 : 1))) : inner,
  );
}
