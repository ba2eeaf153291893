import type { Method } from "../model/catalog.ts";

/** Returns the note for callers of a deprecated method; `undefined` for other methods. */
export function formatDeprecation({ path, metadata }: Method): string | undefined {
  return metadata.deprecated === false ? undefined : `${path} is deprecated: ${metadata.deprecated}`;
}
