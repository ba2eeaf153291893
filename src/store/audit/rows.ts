import { defineTable, integer, type RowOf, type Rows, text } from "../database/table.ts";

/** A record of the audit log, as its canonical JSON, with its place in the chain. */
export type AuditRow = RowOf<typeof AUDIT>;

export const AUDIT = defineTable({
  name: "audit",
  key: ["seq"],
  columns: {
    /** Counts from 1 without gaps. */
    seq: integer(),
    /** The time of the record, in milliseconds since 1970. */
    time: integer(),
    record: text(),
    /** Digest of the hash of the record before and of this record. */
    hash: text(),
  },
});

/** A signed position of the chain: all records up to `seq` are those that led to `hash`. One for each day and signer. */
export type AuditHeadRow = RowOf<typeof AUDIT_HEADS>;

export const AUDIT_HEADS = defineTable({
  name: "auditHeads",
  key: ["day", "signer"],
  columns: {
    /** `2026-01-31`, UTC; `pruned` for the last record that was deleted because of its age. */
    day: text(),
    /** The public key, DER in base64. */
    signer: text(),
    seq: integer(),
    hash: text(),
    time: integer(),
    /** Ed25519, base64. */
    signature: text(),
  },
});

/** The day of the head at which the chain now starts. */
export const PRUNED = "pruned";

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
