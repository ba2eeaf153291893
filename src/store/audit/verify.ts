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
      /** The heads that fit, of the accepted keys. */
      readonly heads: readonly AuditHeadRow[];
      /** The number of heads of other keys, which prove nothing. */
      readonly otherHeads: number;
    }
  | {
      readonly kind: "broken";
      readonly problem: "changed" | "reordered" | "missing" | "truncated" | "signature" | "unsigned";
      /** The number of the first record that does not fit. */
      readonly seq: number;
      readonly says: string;
    };

type Broken = Extract<AuditVerdict, { kind: "broken" }>;

/** Limit on the records among which the place of a moved record is searched. */
const MAX_MOVED = 1_000;

/** Keys and positions from outside of the database, against which a chain is checked. */
export interface AuditEvidence {
  /** The public keys whose heads count, DER in base64; `undefined` for a log in memory, which has no heads. */
  readonly signers: ReadonlySet<string> | undefined;
  /** Positions that were recorded elsewhere, which must be in the chain. */
  readonly positions: readonly ChainPosition[];
  /** The newest head of this project, from its state folder. */
  readonly head?: AuditHeadRow | undefined;
}

/** Checks each record against the hash of the record before, and the heads of accepted keys against the records. */
export async function verifyChain(
  rows: Pick<Rows, "select">,
  { signers, positions, head }: AuditEvidence,
): Promise<AuditVerdict> {
  // Heads first: a head that is added meanwhile may be beyond the records that are read.
  const stored = await rows.select(AUDIT_HEADS, {}, { order: "seq" });
  const heads = stored.filter(({ signer }) => signers?.has(signer) === true);
  const newest = head !== undefined && signers?.has(head.signer) === true ? [head] : [];
  const forged = [...heads, ...newest].find((each) => !isSignedBy(each.signer, getSignedText(each), each.signature));
  if (forged !== undefined) return forgedHead(forged);
  const foreign = stored.find(({ day, signer }) => day === PRUNED && signers?.has(signer) !== true);
  const start = heads.findLast(({ day }) => day === PRUNED) ?? CHAIN_START;
  const expected = new Map<number, string>();
  for (const { seq, hash } of [...heads, ...newest, ...positions]) expected.set(seq, hash);
  let last: ChainPosition = start;
  for await (const row of readAuditRows(rows, start.seq)) {
    const problem = findProblem(row, last) ?? findHeadProblem(row, expected);
    if (problem?.problem === "missing" && last === CHAIN_START && foreign !== undefined) return foreignStart(foreign);
    if (problem !== undefined) return { ...problem, ...(await findMoved(rows, row, last, problem)) };
    last = row;
  }
  const beyond = Math.max(...expected.keys(), 0);
  if (beyond > last.seq) return truncated(last, beyond);
  if (signers !== undefined && last.seq > 0 && heads.length + newest.length === 0) return unsigned(stored);
  const records = last.seq - start.seq;
  const otherHeads = stored.length - heads.length;
  return { kind: "intact", records, last: { seq: last.seq, hash: last.hash }, heads, otherHeads };
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

/** The chain starts after records that were deleted, by the word of a key that is not accepted. */
function foreignStart({ seq, signer }: AuditHeadRow): Broken {
  const says = `The records up to ${seq} are missing: the head that says they were deleted for their age is signed by another key. ${ACCEPT} (${signer})`;
  return { kind: "broken", problem: "signature", seq: 1, says };
}

function unsigned(stored: readonly AuditHeadRow[]): Broken {
  const others = stored.length === 0 ? "" : `; ${stored.length} are signed by other keys. ${ACCEPT}`;
  return { kind: "broken", problem: "unsigned", seq: 1, says: `No head is signed by a key of this project${others}` };
}

const ACCEPT = "If another machine of yours has signed it, name the file with its public keys: --key FILE";
