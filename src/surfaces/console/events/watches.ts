import type { Runtime } from "../../../runtime.ts";
import { OPEN_STATES } from "../../../store/index.ts";
import type { ServerSummary } from "../messages.ts";
import { summarizeServer } from "./activity.ts";

/** Follows a source of changes while a browser listens. */
export interface ChangeWatch {
  follow(): void;
  unfollow(): void;
  close(): void;
}

/** Starts a source of changes with the first follower, and stops it after the last one. */
function createWatch(start: () => () => void): ChangeWatch {
  let followers = 0;
  let stop: (() => void) | undefined;
  const end = (): void => {
    stop?.();
    stop = undefined;
  };
  return {
    follow() {
      if (++followers === 1) stop = start();
    },
    unfollow() {
      if (--followers === 0) end();
    },
    close() {
      followers = 0;
      end();
    },
  };
}

/** Milliseconds between two comparisons of the states of servers. */
const SERVERS_MS = 500;

/** Reports the servers when their states change. */
export function watchServers(runtime: Runtime, onChange: (servers: readonly ServerSummary[]) => void): ChangeWatch {
  let last = "";
  const compare = (): void => {
    const servers = runtime.servers.map(summarizeServer);
    const text = JSON.stringify(servers);
    if (text !== last) onChange(servers);
    last = text;
  };
  return createWatch(() => {
    compare();
    const timer = setInterval(compare, SERVERS_MS).unref();
    return () => clearInterval(timer);
  });
}

/** A question without an answer, for events. */
export interface PendingQuestion {
  readonly id: string;
  readonly caller: string;
  readonly path: string;
}

/** Reports the questions without an answer when they change, in this process or another. */
export function watchApprovals(
  runtime: Pick<Runtime, "database" | "approvals">,
  onChange: (pending: readonly PendingQuestion[]) => void,
): ChangeWatch {
  let last = "";
  const read = async (): Promise<void> => {
    const rows = await runtime.approvals.list("pending");
    const text = rows.map(({ id }) => id).join(" ");
    if (text !== last) onChange(rows.map(({ id, caller, path }) => ({ id, caller, path })));
    last = text;
  };
  return createWatch(() => {
    const stop = followStore(runtime, read);
    return () => {
      stop();
      last = "";
    };
  });
}

/** Reports the owners of connections when these change, in this process or another; `null` is everyone. */
export function watchAccounts(
  runtime: Pick<Runtime, "database" | "accounts" | "on">,
  onChange: (owners: ReadonlySet<string | null>) => void,
): ChangeWatch {
  let last: ReadonlyMap<string, string | null> = new Map();
  const read = async (): Promise<void> => {
    const list = await runtime.accounts.list();
    // The page reads the times of uses when it is opened.
    const states = new Map(
      list.map(({ skills: _skills, lastUsed: _use, ...each }) => [JSON.stringify(each), each.owner]),
    );
    const before = last;
    last = states;
    const changed = [
      ...[...states].filter(([text]) => !before.has(text)),
      ...[...before].filter(([text]) => !states.has(text)),
    ];
    if (changed.length > 0) onChange(new Set(changed.map(([, owner]) => owner)));
  };
  return createWatch(() => {
    const stop = followStore(runtime, read, (readAgain) => runtime.on("account", readAgain));
    return () => {
      stop();
      last = new Map();
    };
  });
}

/** Milliseconds between two looks at occurrences, whose changes the store does not announce in the process that makes them. */
const OCCURRENCES_MS = 1_000;

/** Milliseconds by which the clocks of processes may differ. */
const OVERLAP_MS = 600_000;

/** The newest occurrences that have not ended are compared. */
const MAX_COMPARED = 50;

/** Reports that automations or their occurrences have changed, in this process or another. */
export function watchAutomations(runtime: Pick<Runtime, "database">, onChange: () => void): ChangeWatch {
  let last: string | undefined;
  let newest = Date.now();
  const read = async (): Promise<void> => {
    const { automations } = await runtime.database();
    const rows = await automations.list({ updated: { gt: newest - OVERLAP_MS } });
    newest = Math.max(newest, ...rows.map(({ updated }) => updated));
    const order = { order: "due", descending: true, limit: MAX_COMPARED } as const;
    const text = JSON.stringify([
      rows.map(({ name, state, reason, updated }) => [name, state, reason, updated]),
      await automations.listOccurrences({ ended: { gt: 0 } }, { order: "ended", descending: true, limit: 1 }),
      await automations.listOccurrences({ state: { in: OPEN_STATES } }, order),
    ]);
    if (last !== undefined && text !== last) onChange();
    last = text;
  };
  return createWatch(() => {
    const stop = followStore(runtime, read, (readAgain) => {
      const timer = setInterval(readAgain, OCCURRENCES_MS).unref();
      return () => clearInterval(timer);
    });
    return () => {
      stop();
      last = undefined;
    };
  });
}

/**
 * Reads now and after each change of the store, in this process or another; once more if it has changed meanwhile. `follow` adds
 * another source of changes. Returns the function that stops it.
 */
function followStore(
  { database }: Pick<Runtime, "database">,
  read: () => Promise<void>,
  follow: (onChange: () => void) => () => void = () => () => {},
): () => void {
  let isReading = false;
  let isStale = false;
  const end = new AbortController();
  let stop = (): void => {};

  async function readAll(): Promise<void> {
    isStale = true;
    if (isReading) return;
    isReading = true;
    try {
      while (isStale && !end.signal.aborted) {
        isStale = false;
        await read();
      }
    } finally {
      isReading = false;
    }
  }

  const readOrSkip = (): void => void readAll().catch(() => {}); // the next change reads again
  const start = async (): Promise<void> => {
    const opened = await database();
    if (end.signal.aborted) return;
    const stops = [opened.watch(readOrSkip), follow(readOrSkip)];
    stop = () => stops.forEach((each) => each());
    readOrSkip();
  };
  start().catch(() => {}); // a store that cannot be opened is a problem of the runtime
  return () => {
    end.abort();
    stop();
  };
}
