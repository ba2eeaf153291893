import { type Catalog, listEntries } from "../model/catalog.ts";
import type { Problem } from "../model/provider.ts";
import { didYouMean } from "../shared/suggest.ts";
import { CAPABILITY, CAPABILITY_PREFIX, type PolicyKey } from "./keys.ts";
import { suggestPatterns } from "./patterns.ts";
import type { PolicyRow } from "./rows.ts";
import { STARTER_KEYS } from "./starter.ts";

/**
 * Finds the rows that match no method of the catalog, and those that name a capability without its prefix. Rows of the starter
 * policy are for skills that a project may get later.
 */
export function checkAgainstCatalog(rows: readonly PolicyRow[], catalog: Catalog, label: string): readonly Problem[] {
  return rows.flatMap(({ key, line }) => {
    const note = findNote(key, catalog);
    return note === undefined
      ? []
      : [{ source: label, error: `${label} line ${line}, column 1: "${key.text}" ${note}` }];
  });
}

function findNote(key: PolicyKey, catalog: Catalog): string | undefined {
  const kinds = [...catalog.entries, ...catalog.unlisted.flatMap(listEntries)]
    .map((method) => key.match(method))
    .filter((kind) => kind !== undefined);
  if (kinds.length === 0) {
    const advice = didYouMean(suggestPatterns(key.text, catalog));
    if (advice === "" && STARTER_KEYS.has(key.text)) return undefined;
    return `matches no method of the skills that are loaded${advice && `; ${advice}`}`;
  }
  if (!kinds.includes(CAPABILITY) || key.text.startsWith(CAPABILITY_PREFIX)) return undefined;
  return `matches methods by a capability, which is written ${CAPABILITY_PREFIX}${key.text} today`;
}
