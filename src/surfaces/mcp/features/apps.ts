import type { Catalog } from "../../../model/catalog.ts";

/** The answers for catalogs, which are frozen. */
const cache = new WeakMap<Catalog, boolean>();

/** True if an MCP server of a catalog announces the extension of MCP Apps. */
export function hasApps(catalog: Catalog): boolean {
  const answer = cache.get(catalog) ?? catalog.skills.some(({ provided }) => provided.hasApps === true);
  cache.set(catalog, answer);
  return answer;
}
