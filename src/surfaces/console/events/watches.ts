import type { Runtime } from "../../../runtime.ts";
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
  let isReading = false;
  let isStale = false;

  /** Reads the questions once more if they have changed meanwhile. */
  async function read(): Promise<void> {
    isStale = true;
    if (isReading) return;
    isReading = true;
    try {
      while (isStale) {
        isStale = false;
        const rows = await runtime.approvals.list("pending");
        const text = rows.map(({ id }) => id).join(" ");
        if (text !== last) onChange(rows.map(({ id, caller, path }) => ({ id, caller, path })));
        last = text;
      }
    } finally {
      isReading = false;
    }
  }

  const readOrSkip = (): void => void read().catch(() => {}); // the next change reads again
  return createWatch(() => {
    let stop: (() => void) | undefined;
    let isOver = false;
    const start = async (): Promise<void> => {
      const database = await runtime.database();
      if (isOver) return;
      stop = database.watch(readOrSkip);
      readOrSkip();
    };
    start().catch(() => {}); // a store that cannot be opened is a problem of the runtime
    return () => {
      isOver = true;
      stop?.();
      last = "";
    };
  });
}
