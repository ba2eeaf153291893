import { type Catalog, listEntries } from "../../model/catalog.ts";
import type { Policy } from "../../model/policy.ts";

/** The last answer for each catalog, which is frozen, and the policy that it holds for. */
const answers = new WeakMap<Catalog, { readonly version: number; readonly mayAsk: boolean }>();

/** True if a person is asked before some method of a catalog is called. */
export function mayAsk(catalog: Catalog, { version, getRule }: Policy): boolean {
  const cached = answers.get(catalog);
  if (cached?.version === version) return cached.mayAsk;
  const all = [...catalog.entries, ...catalog.unlisted.flatMap(listEntries)];
  const answer = all.some((method) => getRule(method).decision === "ask");
  answers.set(catalog, { version, mayAsk: answer });
  return answer;
}
