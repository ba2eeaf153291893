import type { AuditRecord } from "./chain.ts";
import type { AuditStore } from "./audit-store.ts";

/** Collects records, and commits those that are ready together. */
export interface AuditWriter {
  /** Adds a record, which is committed soon. */
  add(record: AuditRecord): void;
  /** Removes a record that is not committed yet. */
  remove(record: AuditRecord): void;
  /** Resolves when all records so far are committed; rejects if they cannot be. They are kept, and tried again. */
  flush(): Promise<void>;
  /** False before the first commit, and after one that has failed: then `flush` finds out whether records can be stored. */
  readonly isReady: boolean;
  /** Commits what is left. */
  close(): Promise<void>;
}

/** Milliseconds after which a record is committed that no `flush` waits for. */
const COMMIT_AFTER_MS = 10;
/** Limit on the records of one commit. */
const MAX_BATCH = 1_000;

/** `open` is called for the first record. `warn` receives the error of a commit that no `flush` waits for. */
export function createAuditWriter(
  open: () => Promise<Pick<AuditStore, "append">>,
  warn: (error: unknown) => void,
): AuditWriter {
  let pending: AuditRecord[] = [];
  let timer: NodeJS.Timeout | undefined;
  let commit: Promise<void> | undefined;
  let next: Promise<void> | undefined;
  let isReady = false;

  async function commitAll(): Promise<void> {
    clearTimeout(timer);
    timer = undefined;
    const store = await open();
    while (pending.length > 0) {
      const batch = pending.slice(0, MAX_BATCH);
      await store.append(batch);
      pending = pending.slice(batch.length);
    }
  }

  async function start(): Promise<void> {
    if (isReady && pending.length === 0) return;
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

  return {
    add(record) {
      pending.push(record);
      timer ??= setTimeout(() => void flush().catch(warn), COMMIT_AFTER_MS).unref();
    },
    remove(record) {
      pending = pending.filter((each) => each !== record);
    },
    flush,
    get isReady() {
      return isReady;
    },
    close: flush,
  };
}
