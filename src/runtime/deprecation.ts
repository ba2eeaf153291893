import type { Method } from "../model/catalog.ts";

/** What whoever calls a deprecated method is told. */
export function formatDeprecation({ path, metadata }: Method): string | undefined {
  return metadata.deprecated === false ? undefined : `${path} is deprecated: ${metadata.deprecated}`;
}
