import { SkillgateError } from "../../errors.ts";
import type { StoreEngine, Rows } from "../database/table.ts";
import { createQueue } from "../../shared/threads/queue.ts";
import { type AuditRecord, chainRecords, type ChainPosition, CHAIN_START, getDay, getSignedText } from "./chain.ts";
import { signLines } from "./export.ts";
import { AUDIT, AUDIT_HEADS, type AuditHeadRow, type AuditRow, PRUNED, readAuditRows } from "./rows.ts";
import type { AuditKeys } from "./audit-keys.ts";
import type { Signer } from "./signer.ts";
import { type AuditEvidence, type AuditVerdict, verifyChain } from "./verify.ts";

/** The audit log: records in a chain of hashes to which several processes append. */
export interface AuditStore {
  /** Adds records to the end of the chain. They are committed when the promise resolves. */
  append(records: readonly AuditRecord[]): Promise<void>;
  /** The records after a number, the oldest first. */
  read(after?: number): AsyncIterable<AuditRow>;
  /** The newest records, or the newest before a number; the oldest first. */
  tail(count: number, before?: number): Promise<readonly AuditRow[]>;
  /** Checks the chain against the keys of this project, or against others. */
  verify(evidence?: Partial<AuditEvidence>): Promise<AuditVerdict>;
  /** Signs the end of the chain, and returns it; `undefined` for an empty log, and without a key. */
  sign(): Promise<AuditHeadRow | undefined>;
  /** Writes items as lines of a signed export; without a signature if this process has no key. */
  signLines(items: AsyncIterable<object>, filter: Readonly<Record<string, unknown>>): AsyncGenerator<string>;
  /** Deletes at most `limit` records that are older than a time; returns how many these were. */
  prune(before: number, limit: number): Promise<number>;
}

/** Interval between two signatures while records are added. */
const SIGN_AFTER_MS = 60_000;
/** Attempts to append after another process was faster. */
const MAX_ATTEMPTS = 20;

export function createAuditStore(engine: StoreEngine, keys: AuditKeys): AuditStore & { close(): Promise<void> } {
  const queued = createQueue();
  /** The last record that this process has added. */
  let last: AuditRow | undefined;
  let generation = engine.getGeneration();
  const unsure = createUnsureRecords(engine);
  const parts: AppendParts = { engine, unsure, keys };
  let signedAt = 0;
  let hasUnsigned = false;

  async function append(all: readonly AuditRecord[]): Promise<void> {
    if (engine.getGeneration() !== generation) last = undefined; // it was added to another database
    generation = engine.getGeneration();
    const stored = await unsure.settle();
    if (stored !== undefined) [last, hasUnsigned] = [stored.end, true];
    const records = stored === undefined ? all : all.filter((record) => !stored.records.has(record));
    const [first] = records;
    if (first === undefined) return;
    const day = getDay(Date.parse(first.time));
    if (last !== undefined && hasUnsigned && getDay(last.time) !== day) await signPosition(last);
    last = (await appendAfter(last, records, parts)) ?? (await appendToEnd(records, parts));
    hasUnsigned = true;
    // The records are stored: a caller that observed of a failure would add them again. The next signature covers them, too.
    if (last !== undefined && Date.now() - signedAt > SIGN_AFTER_MS)
      await signPosition(last).catch(() => (hasUnsigned = true));
  }

  async function signPosition(row: AuditRow): Promise<AuditHeadRow | undefined> {
    const signer = await keys.getSigner();
    signedAt = Date.now();
    hasUnsigned = false;
    if (signer === undefined) return undefined;
    const head = createHead(getDay(row.time), row, signer);
    return engine.transaction("audit heads", async (rows) => {
      const [stored] = await rows.select(AUDIT, { seq: row.seq });
      if (stored?.hash !== row.hash) return undefined; // another database has replaced that of this record
      await putHead(rows, head);
      // In the transaction: a backup that is restored brings a head of its own.
      await keys.writeHead(head);
      return head;
    });
  }

  return {
    append: (records) => queued(() => append(records)),
    read: (after) => readAuditRows(engine, after),
    tail: (limit, before) => readTail(engine, limit, before),
    verify: async ({ signers, positions = [] } = {}) => {
      if (engine.kind === "memory") return verifyChain(engine, { signers: undefined, positions });
      const accepted = signers ?? (await keys.readSignerIds());
      return verifyChain(engine, { signers: accepted, positions, head: await keys.readHead() });
    },
    sign: () =>
      queued(async () => {
        const [row] = await engine.select(AUDIT, {}, { descending: true, limit: 1 });
        return row && signPosition(row);
      }),
    signLines: (items, filter) => signLines(items, filter, () => keys.getSigner()),
    prune: (before, limit) => queued(async () => pruneRows(engine, { before, limit }, await keys.getSigner())),
    close: () =>
      queued(async () => {
        if (last !== undefined && hasUnsigned) await signPosition(last);
      }),
  };
}

interface AppendParts {
  readonly engine: StoreEngine;
  readonly unsure: UnsureRecords;
  readonly keys: AuditKeys;
}

/** Adds records after the last one of this process; `undefined` if another process has added some, too. */
async function appendAfter(
  after: AuditRow | undefined,
  records: readonly AuditRecord[],
  { engine, unsure }: AppendParts,
): Promise<AuditRow | undefined> {
  if (after === undefined) return undefined;
  const rows = chainRecords(after, records);
  try {
    await engine.insert(AUDIT, rows);
    return rows.at(-1);
  } catch (error) {
    if (isConflict(error)) return undefined;
    unsure.note(error, records, rows.at(-1));
    throw error;
  }
}

async function appendToEnd(
  records: readonly AuditRecord[],
  parts: AppendParts,
  attempts = MAX_ATTEMPTS,
): Promise<AuditRow | undefined> {
  let end: AuditRow | undefined;
  const signer = await parts.keys.getSigner();
  try {
    return await parts.engine.transaction("audit", async (rows) => {
      const start = await readEnd(rows);
      const added = chainRecords(start, records);
      end = added.at(-1);
      await rows.insert(AUDIT, added);
      // From the first commit on, a log without a signed head is one that lost it.
      if (start.seq === 0 && signer !== undefined && end !== undefined)
        await putHead(rows, createHead(getDay(end.time), end, signer));
      return end;
    });
  } catch (error) {
    if (!isConflict(error) || attempts === 0) {
      parts.unsure.note(error, records, end);
      throw error;
    }
    return appendToEnd(records, parts, attempts - 1);
  }
}

/** The records of an attempt that failed because the store could not be reached: they may be stored nevertheless. */
interface UnsureRecords {
  /** Notes the records of an attempt, and the row of the last one. */
  note(error: unknown, records: readonly AuditRecord[], end: AuditRow | undefined): void;
  /** Returns the records if they are stored; afterwards they are sure. */
  settle(): Promise<{ readonly records: ReadonlySet<AuditRecord>; readonly end: AuditRow } | undefined>;
}

function createUnsureRecords(engine: Pick<StoreEngine, "select">): UnsureRecords {
  let unsure: { readonly records: readonly AuditRecord[]; readonly end: AuditRow } | undefined;
  return {
    note(error, records, end) {
      const isUnreachable = error instanceof SkillgateError && error.code === "STORE_UNAVAILABLE";
      if (isUnreachable && end !== undefined) unsure = { records, end };
    },
    async settle() {
      if (unsure === undefined) return undefined;
      const { records, end } = unsure;
      const [row] = await engine.select(AUDIT, { seq: end.seq });
      unsure = undefined;
      return row?.hash === end.hash ? { records: new Set(records), end } : undefined;
    },
  };
}

async function readTail(
  rows: Pick<Rows, "select">,
  limit: number,
  before: number | undefined,
): Promise<readonly AuditRow[]> {
  const where = before === undefined ? {} : { seq: { lt: before } };
  return (await rows.select(AUDIT, where, { descending: true, limit })).toReversed();
}

/** Returns the position of the newest record, even if all are pruned. */
async function readEnd(rows: Rows): Promise<ChainPosition> {
  const [newest] = await rows.select(AUDIT, {}, { descending: true, limit: 1 });
  return newest ?? (await readPruned(rows)) ?? CHAIN_START;
}

async function readPruned(rows: Rows): Promise<ChainPosition | undefined> {
  const [head] = await rows.select(AUDIT_HEADS, { day: PRUNED }, { order: "seq", descending: true, limit: 1 });
  return head;
}

/** Stores a head, unless there is one further on: another process of this project signs with the same key. */
async function putHead(rows: Rows, head: AuditHeadRow): Promise<void> {
  const [stored] = await rows.select(AUDIT_HEADS, { day: head.day, signer: head.signer });
  if (stored === undefined || stored.seq < head.seq) await rows.put(AUDIT_HEADS, head);
}

function createHead(day: string, { seq, hash }: ChainPosition, signer: Signer): AuditHeadRow {
  const head = { day, signer: signer.id, seq, hash, time: Date.now() };
  return { ...head, signature: signer.sign(getSignedText(head)) };
}

/** Deletes the oldest records. The last of them is signed, so that the chain can be verified from there. */
async function pruneRows(
  engine: StoreEngine,
  { before, limit }: { readonly before: number; readonly limit: number },
  signer: Signer | undefined,
): Promise<number> {
  if (signer === undefined) return 0;
  return engine.transaction("audit", async (rows) => {
    const oldest = await rows.select(AUDIT, {}, { limit });
    const last = oldest[countOld(oldest, before) - 1];
    if (last === undefined) return 0;
    await rows.delete(AUDIT_HEADS, { day: PRUNED });
    await rows.put(AUDIT_HEADS, createHead(PRUNED, last, signer));
    const heads = await rows.select(AUDIT_HEADS, { seq: { lt: last.seq } });
    for (const { day, signer: id } of heads) if (day !== PRUNED) await rows.delete(AUDIT_HEADS, { day, signer: id });
    return rows.delete(AUDIT, { seq: { lt: last.seq + 1 } });
  });
}

/**
 * Returns how many of the first records are deleted: those among which the old ones outnumber the others most. So records of a
 * process with a wrong clock keep no older ones, and delete no younger ones. The chain has no gaps.
 */
function countOld(rows: readonly AuditRow[], before: number): number {
  let [surplus, largest, count] = [0, 0, 0];
  for (const [at, { time }] of rows.entries()) {
    surplus += time < before ? 1 : -1;
    if (surplus > largest) [largest, count] = [surplus, at + 1];
  }
  return count;
}

function isConflict(error: unknown): boolean {
  return error instanceof SkillgateError && error.code === "STORE_CONFLICT";
}
