import { ADMIN_RIGHTS } from "../../../model/caller.ts";
import type { Catalog } from "../../../model/catalog.ts";
import { PERMISSION_FORMS, splitPermission } from "../../../model/permissions.ts";
import type { PatternMatches } from "../../../policy/index.ts";
import { lines } from "../text/layout.ts";

/** The methods that the patterns of permissions match, for each kind of permission that has patterns. */
export interface PermissionMatches {
  readonly call?: PatternMatches;
  readonly see?: PatternMatches;
}

/** Says which methods permissions match, each in the notation of today. */
export async function matchPermissions(permissions: readonly string[], catalog: Catalog): Promise<PermissionMatches> {
  const { matchPatterns } = await import("../../../policy/index.ts");
  const parts = permissions.map(splitPermission);
  const match = (kind: keyof PermissionMatches): PermissionMatches => {
    const patterns = parts.filter((part) => part.kind === kind).map(({ value }) => value);
    return patterns.length === 0 ? {} : { [kind]: matchPatterns(patterns, "permission", catalog) };
  };
  return { ...match("call"), ...match("see") };
}

/** `call: Matches 2 methods: MathSkill.add, MathSkill.sum` */
export function describeMatches(matches: PermissionMatches): string {
  return lines(Object.entries(matches).map(([kind, { text }]: [string, PatternMatches]) => `${kind}: ${text}`));
}

/** The forms of text that a shell completes: a pattern of methods, a permission, or a list of permissions with commas between them. */
export type CompletedForm = "pattern" | "permission" | "permissions";

/** Returns the texts that complete the start of a word. Case does not count. */
export async function completePermission(
  start: string,
  form: CompletedForm,
  catalog: () => Promise<Catalog>,
): Promise<readonly string[]> {
  const [before, word] = form === "permissions" ? splitAfterLast(start, ",") : ["", start];
  const [kind, value] = form === "pattern" ? ["call:", word] : splitAfterLast(word, ":");
  const ownPart = form === "pattern" ? "" : kind;
  const candidates = await listValues(kind, catalog);
  const found = candidates.filter((each) => each.toLowerCase().startsWith(value.toLowerCase()));
  return found.map((each) => before + ownPart + each);
}

/** Lists the values of a kind of permission; without one, the kinds. */
async function listValues(kind: string, catalog: () => Promise<Catalog>): Promise<readonly string[]> {
  if (kind === "") return Object.keys(PERMISSION_FORMS).map((each) => `${each}:`);
  if (kind === "admin:") return Object.keys(ADMIN_RIGHTS);
  if (kind !== "call:" && kind !== "see:") return [];
  const { listPatterns } = await import("../../../policy/index.ts");
  return ["*", ...listPatterns(await catalog())];
}

function splitAfterLast(text: string, separator: string): readonly [before: string, rest: string] {
  const end = text.lastIndexOf(separator) + 1;
  return [text.slice(0, end), text.slice(end)];
}
