import { hash, randomUUID } from "node:crypto";

import type { OccurrenceKind, OccurrenceRow } from "../store/index.ts";

/** Returns the id of the occurrence of a slot, in milliseconds since 1970: its time in ISO 8601. */
export function toSlotId(slot: number): string {
  return new Date(slot).toISOString();
}

export function createManualId(now: number): string {
  return `manual-${new Date(now).toISOString()}-${randomUUID().slice(0, 8)}`;
}

/**
 * Returns the id of the run of an occurrence. It follows from the occurrence: two processes that begin the same one begin the same
 * run, of which the store takes one record.
 */
export function createRunId({ automation, id }: Pick<OccurrenceRow, "automation" | "id">, attempt: number): string {
  const digest = hash("sha256", JSON.stringify([automation, id, attempt]));
  const parts = [digest.slice(0, 8), digest.slice(8, 12), `8${digest.slice(13, 16)}`, `a${digest.slice(17, 20)}`];
  return [...parts, digest.slice(20, 32)].join("-");
}

/** Creates an occurrence that is due at a time in milliseconds since 1970. */
export function createOccurrence(
  { automation, id, kind }: { readonly automation: string; readonly id: string; readonly kind: OccurrenceKind },
  due: number,
): OccurrenceRow {
  const run = createRunId({ automation, id }, 1);
  const nothing = { started: null, ended: null, error: null, claimedBy: null };
  return { automation, id, kind, state: "due", due, run, attempt: 1, ...nothing };
}
