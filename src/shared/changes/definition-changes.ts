import type { MissingMethod } from "../../model/skill.ts";
import { describeDifferences } from "./describe-differences.ts";

/** How a definition that differs from the accepted one is treated: reported, or reported and held back. */
export const CHANGE_POLICIES = ["report", "hold"] as const;
export type ChangePolicy = (typeof CHANGE_POLICIES)[number];

export type Definition = Readonly<Record<string, unknown>>;

/** A definition that was accepted, or that is offered now. */
export interface Digested {
  readonly digest: string | undefined;
  /** Read only where the digests differ. */
  readonly definition: Definition;
}

/** A definition that differs from the accepted one, or has none. */
export interface DefinitionChange {
  readonly name: string;
  readonly kind: "added" | "changed";
  /** One line for each difference; empty for a definition that was added. */
  readonly differences: readonly string[];
}

/** Returns the definitions that were added or changed since others were accepted. */
export function findChanges(
  accepted: ReadonlyMap<string, Digested>,
  offered: readonly (Digested & { readonly name: string })[],
): readonly DefinitionChange[] {
  return offered.flatMap((now): readonly DefinitionChange[] => {
    const before = accepted.get(now.name);
    if (before === undefined) return [{ name: now.name, kind: "added", differences: [] }];
    if (before.digest === now.digest) return [];
    return [
      {
        name: now.name,
        kind: "changed",
        get differences() {
          const found = describeDifferences(before.definition, now.definition);
          return found.length === 0 ? ["the order of its parts"] : found;
        },
      },
    ];
  });
}

/** `has changed since it was accepted (description: "a" → "b")`; `all` is what was accepted together. */
export function describeChange({ kind, differences }: DefinitionChange, all: "tools" | "operations"): string {
  return kind === "added" ? describeAdded(all) : `${CHANGED} (${differences.join("; ")})`;
}

/**
 * Says why a method is not offered, and the command with which the owner accepts its definition. Models read it, so it has nothing of the
 * new definition.
 */
export function describeHeldChange(
  { kind }: Pick<DefinitionChange, "kind">,
  all: "tools" | "operations",
  command: string,
): MissingMethod {
  const what = kind === "added" ? describeAdded(all) : CHANGED;
  return { code: "METHOD_HELD", why: `${what}; the owner accepts it with: ${command}` };
}

const CHANGED = "has changed since it was accepted";

function describeAdded(all: "tools" | "operations"): string {
  return `was added after the ${all} were accepted`;
}
