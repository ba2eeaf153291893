import type { Rows, Table } from "../database/table.ts";

/** A record of the audit log, as its canonical JSON, with its place in the chain. */
export interface AuditRow {
  /** Counts from 1 without gaps. */
  readonly seq: number;
  /** The time of the record, in milliseconds since 1970. */
  readonly time: number;
  readonly record: string;
  /** Digest of the hash of the record before and of this record. */
  readonly hash: string;
}

/** A signed position of the chain: all records up to `seq` are those that led to `hash`. One for each day and signer. */
export interface AuditHeadRow {
  /** `2026-01-31`, UTC; `pruned` for the last record that was deleted because of its age. */
  readonly day: string;
  /** The public key, DER in base64. */
  readonly signer: string;
  readonly seq: number;
  readonly hash: string;
  readonly time: number;
  /** Ed25519, base64. */
  readonly signature: string;
}

/** The day of the head at which the chain now starts. */
export const PRUNED = "pruned";

export const AUDIT: Table<AuditRow> = {
  name: "audit",
  key: ["seq"],
  columns: { seq: "integer", time: "integer", record: "text", hash: "text" },
};

export const AUDIT_HEADS: Table<AuditHeadRow> = {
  name: "auditHeads",
  key: ["day", "signer"],
  columns: { day: "text", signer: "text", seq: "integer", hash: "text", time: "integer", signature: "text" },
};

const PAGE_ROWS = 1_000;

/** Reads the rows after a position, a page at a time. */
export async function* readAuditRows(rows: Pick<Rows, "select">, after = 0): AsyncGenerator<AuditRow> {
  for (let last = after; ;) {
    const page = await rows.select(AUDIT, { seq: { gt: last } }, { limit: PAGE_ROWS });
    yield* page;
    if (page.length < PAGE_ROWS) return;
    last = page.at(-1)?.seq ?? last;
  }
}
