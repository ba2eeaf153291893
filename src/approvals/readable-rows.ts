import { type Caller, mayAdminister, mayRead } from "../model/caller.ts";
import { isRecord, type Json } from "../model/json.ts";
import type { ApprovalRow } from "../store/index.ts";

/** Replaces the path of a method that the viewer may not read. */
const HIDDEN = "another method";

/** Returns the questions as a viewer may see them. */
export function getReadableRows(rows: readonly ApprovalRow[], viewer: Caller): readonly ApprovalRow[] {
  return rows.flatMap((row) => getReadableRow(row, viewer) ?? []);
}

/**
 * Returns a question as a viewer may see it: about a method that it may read, and of its own calls unless it may read those of
 * others; `undefined` for any other.
 */
export function getReadableRow(row: ApprovalRow | undefined, viewer: Caller): ApprovalRow | undefined {
  if (row === undefined || (row.caller !== viewer.id && !mayAdminister(viewer, "Read"))) return undefined;
  if (!mayRead(viewer, row.path)) return undefined;
  const isReadable = (path: unknown): boolean => typeof path === "string" && mayRead(viewer, path);
  return {
    ...row,
    plan: toList(row.plan).filter((call) => isRecord(call) && isReadable(call["path"])),
    // Each is a sentence that ends with the path of a method.
    provenance: toList(row.provenance).map((text) =>
      (typeof text === "string" ? text : "").replace(/\S+$/, (path) => (isReadable(path) ? path : HIDDEN)),
    ),
  };
}

function toList(value: Json): readonly Json[] {
  return Array.isArray(value) ? value : [];
}
