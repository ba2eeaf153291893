import type { Catalog } from "../model/catalog.ts";
import type { Problem } from "../model/provider.ts";
import { didYouMean, suggestNames } from "../shared/suggest.ts";
import type { PolicyRow } from "./rows.ts";

/** Finds the rows that match no method of the catalog. */
export function checkAgainstCatalog(rows: readonly PolicyRow[], catalog: Catalog, label: string): readonly Problem[] {
  const unused = rows.filter(({ key }) => !catalog.methods.some((method) => key.match(method) !== undefined));
  return unused.map(({ key, line }) => {
    const names = key.text.includes(".") ? catalog.methods.map(({ path }) => path) : [];
    const advice = key.text.includes("*") ? "" : didYouMean(suggestNames(key.text, names, 1));
    const says = `"${key.text}" matches no method of the skills that are loaded${advice && `; ${advice}`}`;
    return { source: label, error: `${label} line ${line}, column 1: ${says}` };
  });
}
