import { walkObjects } from "./compile/document-files.ts";

/** The beginning of a reference to a named type of a catalog. */
export const REFERENCE_PREFIX = "#/$defs/";

/** Returns the names of the types that a schema refers to. */
export function findReferences(schema: unknown): readonly string[] {
  const names = new Set<string>();
  for (const { $ref } of walkObjects(schema))
    if (typeof $ref === "string" && $ref.startsWith(REFERENCE_PREFIX)) names.add($ref.slice(REFERENCE_PREFIX.length));
  return [...names];
}
