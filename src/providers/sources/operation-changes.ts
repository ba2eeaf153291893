import type { MissingMethod } from "../../model/skill.ts";
import {
  type ChangePolicy,
  type DefinitionChange,
  describeHeldChange,
  type Digested,
  findChanges,
} from "../../shared/changes/definition-changes.ts";
import type { OperationRow, SourceCatalog } from "./catalog-file.ts";

/** An operation that differs from the accepted one, was added later, or is gone; by the name of its method. */
export interface OperationChange extends Omit<DefinitionChange, "kind"> {
  readonly kind: DefinitionChange["kind"] | "removed";
}

/** The operations of a catalog that become methods, by their names. */
export interface OfferedOperations<Catalog extends SourceCatalog = SourceCatalog> {
  readonly catalog: Catalog;
  readonly rows: ReadonlyMap<string, OperationRow>;
}

/** The operations that were accepted: those of a catalog, or of one whose format cannot be read any more. */
export type AcceptedOperations = OfferedOperations | "unreadable";

/** Returns what has changed since operations were accepted. */
export function findOperationChanges(
  accepted: AcceptedOperations,
  offered: OfferedOperations,
  policy: ChangePolicy,
): readonly OperationChange[] {
  if (accepted === "unreadable") {
    if (policy === "report") return [];
    return [...offered.rows.keys()].map((name) => ({ name, kind: "changed", differences: [UNREADABLE] }));
  }
  const removed = [...accepted.rows.keys()].filter((name) => !offered.rows.has(name));
  return [
    ...findChanges(new Map(toDigested(accepted).map((each) => [each.name, each])), toDigested(offered)),
    ...removed.map((name) => ({ name, kind: "removed", differences: [] }) as const),
  ];
}

const UNREADABLE = "an earlier version of Skillgate has stored what was accepted, and it cannot be compared";

function toDigested({ catalog, rows }: OfferedOperations): readonly (Digested & { readonly name: string })[] {
  return [...rows].map(([name, row]) => ({
    name,
    digest: row.digest,
    get definition() {
      return catalog.readDefinition(row);
    },
  }));
}

/** Says why a method is not offered, because its operation is held or gone. */
export function whyOperationMissing({ kind }: Pick<OperationChange, "kind">, source: string): MissingMethod {
  if (kind === "removed")
    return { code: "METHOD_REMOVED", why: `was removed: the document of ${source} does not have it any more` };
  return describeHeldChange({ kind }, "operations", `skillgate source accept ${source}`);
}

/** `2 operations have changed since they were accepted, 1 was added`; `undefined` without a change. */
export function countChanges(changes: readonly OperationChange[]): string | undefined {
  const texts = (["changed", "added", "removed"] as const).flatMap((kind) => {
    const { length } = changes.filter((change) => change.kind === kind);
    return length === 0 ? [] : [`${length} ${kind}`];
  });
  return texts.length === 0 ? undefined : `${texts.join(", ")} since the operations were accepted`;
}
