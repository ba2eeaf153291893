import { hashValueFully } from "../../../shared/digest.ts";
import { findSizeExcess } from "../../../shared/values/value-size.ts";

/** The fields of a tool's definition that change what a model reads or what a call does. */
const PINNED_FIELDS = ["name", "title", "description", "inputSchema", "outputSchema", "annotations"] as const;

/** Returns the digest of the pinned fields of a tool's definition; `undefined` if the definition is nested too deeply. */
export function hashTool(definition: Readonly<Record<string, unknown>>): string | undefined {
  const fields = selectPinnedFields(definition);
  return findSizeExcess(fields) === undefined ? hashValueFully(fields) : undefined;
}

/** Returns the fields of a definition that its digest covers. */
export function selectPinnedFields(definition: Readonly<Record<string, unknown>>): Readonly<Record<string, unknown>> {
  return Object.fromEntries(PINNED_FIELDS.map((key) => [key, definition[key]]));
}
