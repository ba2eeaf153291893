import type { AnyNode } from "acorn";
import type { Inspection } from "./inspection.ts";
import { collect, literalName } from "./walk.ts";

/** The members of each name that a program has (`.name`, `["name"]`), whatever they are members of. */
export type MembersByName = ReadonlyMap<string, readonly AnyNode[]>;

export function membersByName({ scopes }: Inspection): MembersByName {
  const members = new Map<string, AnyNode[]>();
  for (const node of scopes.parents.keys()) {
    const name = node.type === "MemberExpression" ? literalName(node.property, node.computed) : undefined;
    if (name !== undefined) collect(members, name, node);
  }
  return members;
}
