import type { AuditRecord } from "./chain.ts";
import type { AuditStore } from "./audit-store.ts";

/** Collects records, and commits those that are ready together. */
export interface AuditWriter {
  /** Adds a record. It is committed within `COMMIT_AFTER_MS`, or earlier with a record that is waited for. */
  add(record: AuditRecord): void;
  /** Adds a record that must be committed before the outcome of its call is returned: see `flushEffects`. */
  addEffect(record: AuditRecord): void;
  /** Removes a record that is not committed yet. */
  remove(record: AuditRecord): void;
  /** Resolves when all records so far are committed; rejects if they cannot be. They are kept, and tried again. */
  flush(): Promise<void>;
  /** The same for those records of a run that `addEffect` has added; `undefined` if all of them are committed. */
  flushEffects(runId: string): Promise<void> | undefined;
  /** False before the first commit, and after one that has failed: then `flush` finds out whether records can be stored. */
  readonly isReady: boolean;
  /** Commits what is left. */
  close(): Promise<void>;
}

/** Milliseconds after which a record is committed that no `flush` waits for. */
const COMMIT_AFTER_MS = 20;
/** Limit on the records of one commit. */
const MAX_BATCH = 1_000;

/** `open` is called for the first record. `warn` receives the error of a commit that no `flush` waits for. */
export function createAuditWriter(
  open: () => Promise<Pick<AuditStore, "append">>,
  warn: (error: unknown) => void,
): AuditWriter {
  const pending = createPendingRecords();
  let timer: NodeJS.Timeout | undefined;
  let commit: Promise<void> | undefined;
  let next: Promise<void> | undefined;
  let isReady = false;

  async function commitAll(): Promise<void> {
    const store = await open();
    while (!pending.isEmpty()) {
      const batch = pending.getBatch();
      await store.append(batch);
      pending.remove(batch);
    }
  }

  async function start(): Promise<void> {
    if (isReady && pending.isEmpty()) return;
    commit = commitAll();
    try {
      await commit;
      isReady = true;
    } catch (error) {
      isReady = false;
      throw error;
    } finally {
      commit = undefined;
    }
  }

  /** Commits what is there when a commit that is under way has ended; all that wait for it share one commit. */
  function flush(): Promise<void> {
    // Commits that run at the same time would store records twice, and forget others.
    if (next !== undefined) return next;
    if (commit === undefined) return start();
    next = commit
      .catch(() => {})
      .then(() => {
        next = undefined;
        return start();
      });
    return next;
  }

  function commitSoon(): void {
    timer = undefined; // also if a commit under way has taken the records
    void flush().catch(warn);
  }

  function add(record: AuditRecord, isEffect: boolean): void {
    pending.add(record, isEffect);
    timer ??= setTimeout(commitSoon, COMMIT_AFTER_MS).unref();
  }

  return {
    add: (record) => add(record, false),
    addEffect: (record) => add(record, true),
    remove: (record) => pending.remove([record]),
    flush,
    flushEffects: (runId) => (pending.hasEffect(runId) ? flush() : undefined),
    get isReady() {
      return isReady;
    },
    close: flush,
  };
}

/** The records that are not committed yet, in their order. */
interface PendingRecords {
  add(record: AuditRecord, isEffect: boolean): void;
  /** True if a record of an effect of the run is among them. */
  hasEffect(runId: string): boolean;
  isEmpty(): boolean;
  /** The first of them, as many as one commit may have. */
  getBatch(): readonly AuditRecord[];
  remove(records: readonly AuditRecord[]): void;
}

function createPendingRecords(): PendingRecords {
  let pending: AuditRecord[] = [];
  const effects = new Set<AuditRecord>();
  return {
    add(record, isEffect) {
      pending.push(record);
      if (isEffect) effects.add(record);
    },
    hasEffect(runId) {
      for (const record of effects) if (record["runId"] === runId) return true;
      return false;
    },
    isEmpty: () => pending.length === 0,
    getBatch: () => pending.slice(0, MAX_BATCH),
    remove(records) {
      // By identity: some of a batch may have been removed while it was committed.
      const removed = new Set(records);
      pending = pending.filter((record) => !removed.has(record));
      for (const record of records) effects.delete(record);
    },
  };
}
