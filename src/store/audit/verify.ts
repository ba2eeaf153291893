import type { Rows } from "../database/table.ts";
import { type ChainPosition, CHAIN_START, getSignedText, hashRecord } from "./chain.ts";
import { AUDIT_HEADS, type AuditHeadRow, type AuditRow, PRUNED, readAuditRows } from "./rows.ts";
import { isSignedBy } from "./signer.ts";

/** The result of checking the whole chain. */
export type AuditVerdict =
  | {
      readonly kind: "intact";
      readonly records: number;
      /** The last position; the hash of the start if the log is empty. */
      readonly last: ChainPosition;
      /** The heads that fit, with the ids of their signers. */
      readonly heads: readonly AuditHeadRow[];
    }
  | {
      readonly kind: "broken";
      readonly problem: "changed" | "reordered" | "missing" | "truncated" | "signature";
      /** The number of the first record that does not fit. */
      readonly seq: number;
      readonly says: string;
    };

type Broken = Extract<AuditVerdict, { kind: "broken" }>;

/** Limit on the records among which the place of a moved record is searched. */
const MAX_MOVED = 1_000;

/**
 * Checks each record against the hash of the record before, and the signed heads against the records. `positions` are those
 * that were recorded elsewhere, which must also be in the chain.
 */
export async function verifyChain(
  rows: Pick<Rows, "select">,
  positions: readonly ChainPosition[] = [],
): Promise<AuditVerdict> {
  // Heads first: a head that is added meanwhile may be beyond the records that are read.
  const heads = await rows.select(AUDIT_HEADS, {}, { order: "seq" });
  const forged = heads.find((head) => !isSignedBy(head.signer, getSignedText(head), head.signature));
  if (forged !== undefined) return forgedHead(forged);
  const start = heads.findLast(({ day }) => day === PRUNED) ?? CHAIN_START;
  const expected = new Map<number, string>();
  for (const { seq, hash } of [...heads, ...positions]) expected.set(seq, hash);
  let last: ChainPosition = start;
  for await (const row of readAuditRows(rows, start.seq)) {
    const problem = findProblem(row, last) ?? findHeadProblem(row, expected);
    if (problem !== undefined) return { ...problem, ...(await findMoved(rows, row, last, problem)) };
    last = row;
  }
  const beyond = Math.max(...expected.keys(), 0);
  if (beyond > last.seq) return truncated(last, beyond);
  return { kind: "intact", records: last.seq - start.seq, last: { seq: last.seq, hash: last.hash }, heads };
}

function findProblem(row: AuditRow, last: ChainPosition): Broken | undefined {
  const seq = last.seq + 1;
  if (row.seq !== seq) {
    const says = row.seq === seq + 1 ? `Record ${seq} is missing` : `Records ${seq} to ${row.seq - 1} are missing`;
    return { kind: "broken", problem: "missing", seq, says };
  }
  if (row.hash === hashRecord(last.hash, row.record) && row.time === getTime(row.record)) return undefined;
  return { kind: "broken", problem: "changed", seq, says: `Record ${seq} was changed` };
}

function getTime(record: string): number {
  return Date.parse(String((JSON.parse(record) as { readonly time?: unknown }).time));
}

/** A chain that was computed again fits itself, but not the heads. */
function findHeadProblem({ seq, hash }: AuditRow, expected: ReadonlyMap<number, string>): Broken | undefined {
  const signed = expected.get(seq);
  if (signed === undefined || signed === hash) return undefined;
  const says = `Record ${seq} does not lead to the signed head: this record or one before it was changed`;
  return { kind: "broken", problem: "changed", seq, says };
}

/** Says so if the record that belongs here is at another place. */
async function findMoved(
  rows: Pick<Rows, "select">,
  { seq, hash }: AuditRow,
  last: ChainPosition,
  { problem }: Broken,
): Promise<Partial<Broken>> {
  if (problem !== "changed") return {};
  for await (const later of readAuditRows(rows, seq)) {
    if (later.seq > seq + MAX_MOVED) break;
    const moved = hashRecord(last.hash, later.record);
    if (later.hash !== moved && hash !== moved) continue;
    return { problem: "reordered", says: `Record ${seq} is at position ${later.seq}: the records were reordered` };
  }
  return {};
}

function truncated({ seq }: ChainPosition, beyond: number): Broken {
  const says = `The records from ${seq + 1} on are missing: a signed head says that there were at least ${beyond}`;
  return { kind: "broken", problem: "truncated", seq: seq + 1, says };
}

function forgedHead({ day, seq }: AuditHeadRow): Broken {
  const says = `The head of ${day}, at record ${seq}, has a signature that is not valid`;
  return { kind: "broken", problem: "signature", seq, says };
}
