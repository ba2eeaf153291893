import { hash } from "node:crypto";

import { canonicalText } from "../../shared/digest.ts";
import type { AuditHeadRow, AuditRow } from "./rows.ts";

/** A record: plain data with a time in ISO 8601. */
export interface AuditRecord {
  readonly time: string;
  readonly [name: string]: unknown;
}

/** A position of the chain. */
export interface ChainPosition {
  readonly seq: number;
  readonly hash: string;
}

/** The position before the first record. */
export const CHAIN_START: ChainPosition = { seq: 0, hash: "0".repeat(64) };

/** Returns the digest of the hash before and the canonical JSON of a record, hexadecimal. */
export function hashRecord(previous: string, record: string): string {
  return hash("sha256", `${previous}\n${record}`);
}

/** Returns the rows of records that follow a position. */
export function chainRecords(after: ChainPosition, records: readonly AuditRecord[]): readonly AuditRow[] {
  let previous = after.hash;
  return records.map((record, index) => {
    const text = canonicalText(record);
    previous = hashRecord(previous, text);
    return { seq: after.seq + index + 1, time: Date.parse(record.time), record: text, hash: previous };
  });
}

/** The text that the signature of a head signs. */
export function getSignedText({ day, signer, seq, hash, time }: Omit<AuditHeadRow, "signature">): string {
  return `skillgate audit head\n${canonicalText({ day, signer, seq, hash, time })}`;
}

/** Returns the day of a time, UTC: `2026-01-31`. */
export function getDay(time: number): string {
  return new Date(time).toISOString().slice(0, 10);
}
