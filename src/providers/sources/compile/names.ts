import { createHash } from "node:crypto";

import { isMemberName } from "../../../shared/names/skill-names.ts";
import type { Verb } from "../openapi/operation.ts";

/** The parts of an operation that its name is made of. */
export interface Named {
  readonly verb: Verb;
  readonly path: string;
  readonly operationId?: string | undefined;
}

const MAX_NAME = 100;

/**
 * Returns the name of the method of each operation. A name depends on the operation alone, or on the two that collide, never on
 * the order of operations; an operation that had a name before keeps it. `before` has names by `getOperationKey`.
 */
export function nameOperations(
  operations: readonly Named[],
  before: ReadonlyMap<string, string> = new Map(),
): readonly string[] {
  const proposals = operations.map(nameOperation);
  const counts = new Map<string, number>();
  for (const name of proposals) counts.set(name, (counts.get(name) ?? 0) + 1);
  const earlierNames = operations.map((operation) => before.get(getOperationKey(operation)));
  // An operation that is gone can come back.
  const usedNames = new Set(before.values());
  return operations.map((operation, at) => {
    const own = earlierNames[at];
    if (own !== undefined) return own;
    const name = proposals[at] ?? "";
    return counts.get(name) === 1 && !usedNames.has(name) ? name : `${name}_${shortHash(getOperationKey(operation))}`;
  });
}

/** `get /repos/{owner}`: there is one operation of a verb at a path. */
export function getOperationKey({ verb, path }: { readonly verb: string; readonly path: string }): string {
  return `${verb} ${path}`;
}

/** `repos/list-for-org` becomes `repos_listForOrg`; without an id, `get /pets/{id}` becomes `getPetsById`. */
function nameOperation(operation: Named): string {
  const parts = (operation.operationId ?? "").split(/[/.]+/).map(toCamelCase).filter(Boolean);
  const name = parts.length > 0 ? parts.join("_") : toCamelCase(describePath(operation));
  const short = name.length > MAX_NAME ? `${name.slice(0, MAX_NAME)}_${shortHash(getOperationKey(operation))}` : name;
  if (isMemberName(short)) return short;
  return (
    [`${short}_`, `_${short}`, `_${short}_`].find(isMemberName) ?? `operation_${shortHash(getOperationKey(operation))}`
  );
}

function describePath({ verb, path }: Named): string {
  const words = path.split("/").map((part) => part.replaceAll(/\{([^}]*)\}/g, " by $1 "));
  return `${verb} ${words.join(" ")}`;
}

/** Joins the words of a text; a first word in capitals is written small: `URLShortener_add` keeps its form, `LIST_ALL` does not. */
function toCamelCase(text: string): string {
  const words =
    text
      .normalize("NFKD")
      .replaceAll(/\p{M}/gu, "")
      .match(/[\p{L}\p{N}]+/gu) ?? [];
  return words.map((word, at) => (at === 0 ? lowerFirst(word) : word.charAt(0).toUpperCase() + word.slice(1))).join("");
}

function lowerFirst(word: string): string {
  return /^[\p{Lu}\p{N}]+$/u.test(word) ? word.toLowerCase() : word.charAt(0).toLowerCase() + word.slice(1);
}

/** Six hexadecimal digits: of 20,000 operations, two that also have one name will hardly have one hash. */
export function shortHash(text: string): string {
  return createHash("sha256").update(text).digest("hex").slice(0, 6);
}
