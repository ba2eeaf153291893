import type { ConnectionEnd } from "../model/account.ts";
import type { AccountRow, Database, LazyDatabase } from "../store/index.ts";
import { getConnectionTitle } from "./failures.ts";

/** The stored connection of an owner, without its value. */
export type StoredConnection = Omit<AccountRow, "value" | "claimedBy" | "claimedUntil">;

/** A connection that cannot be used any more. */
export interface EndedConnection {
  readonly id: string;
  readonly name: string;
  /** The id of the caller; `null` for the connection of everyone. */
  readonly owner: string | null;
  /** `github (ada)` */
  readonly title: string;
  readonly why: string;
  /** Absent if it can be used again, after a change of the settings or a new login. */
  readonly end?: ConnectionEnd;
}

export type EndListener = (ended: EndedConnection) => void;

/** The connections of the store as this process knows them: read at the first need, and after each change by any process. */
export interface StoredConnections {
  find(name: string, owner: string | null): StoredConnection | undefined;
  /** The oldest first. */
  list(): readonly StoredConnection[];
  /** Reads the connections again; the read begins after the call. */
  refresh(): Promise<void>;
  /** Looks at the connections again, after a change of the settings. */
  check(): void;
  close(): void;
}

/** `findFlaw` says why a connection cannot be used; `onEnd` gets each connection that could be used until now. */
export function createConnections(
  database: Pick<LazyDatabase, "open">,
  findFlaw: (connection: StoredConnection) => string | undefined,
  onEnd: EndListener,
): StoredConnections {
  let rows: readonly StoredConnection[] = [];
  let byOwner: ReadonlyMap<string, StoredConnection> = new Map();
  let usable: ReadonlyMap<string, StoredConnection> = new Map();
  let stopWatching: (() => void) | undefined;
  let isClosed = false;

  const refresh = coalesce(async () => {
    const opened = await database.open();
    if (isClosed) return;
    stopWatching ??= opened.watch(() => void refresh().catch(() => {})); // The next change or use reads them again.
    await read(opened);
  });

  async function read({ accounts }: Pick<Database, "accounts">): Promise<void> {
    rows = (await accounts.list()).map(({ value: _value, claimedBy: _by, claimedUntil: _until, ...row }) => row);
    byOwner = new Map(rows.map((row) => [toKey(row.name, row.owner), row]));
    check();
  }

  function check(): void {
    const before = usable;
    usable = new Map(rows.filter((row) => findFlaw(row) === undefined).map((row) => [row.id, row]));
    for (const { id, name, owner } of before.values()) {
      if (usable.has(id)) continue;
      const now = rows.find((row) => row.id === id);
      const isReplaced = byOwner.has(toKey(name, owner));
      const ended = { id, name, owner, title: getConnectionTitle(name, owner) };
      if (now !== undefined) onEnd({ ...ended, why: findFlaw(now) ?? "it cannot be used" });
      else if (isReplaced) onEnd({ ...ended, why: "it was connected again", end: "was replaced" });
      else onEnd({ ...ended, why: "it was revoked", end: "was revoked" });
    }
  }

  return {
    find: (name, owner) => byOwner.get(toKey(name, owner)),
    list: () => rows,
    refresh,
    check,
    close() {
      isClosed = true;
      stopWatching?.();
      stopWatching = undefined;
    },
  };
}

function toKey(name: string, owner: string | null): string {
  return JSON.stringify([name, owner]);
}

/** Runs `work` once for all calls that come before it begins. */
function coalesce(work: () => Promise<void>): () => Promise<void> {
  let running: Promise<void> | undefined;
  let next: Promise<void> | undefined;
  const start = (): Promise<void> => {
    const started = work().finally(() => {
      if (running === started) running = undefined;
    });
    running = started;
    return started;
  };
  return () => {
    if (next !== undefined) return next;
    if (running === undefined) return start();
    next = running
      .catch(() => {}) // its own callers get the error
      .then(() => {
        next = undefined;
        return start();
      });
    return next;
  };
}
