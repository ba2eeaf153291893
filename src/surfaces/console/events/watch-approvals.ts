import type { Runtime } from "../../../runtime.ts";

/** A question without an answer, for events. */
export interface PendingQuestion {
  readonly id: string;
  readonly caller: string;
  readonly path: string;
}

/** Follows a source of changes while a browser listens. */
export interface ChangeWatch {
  follow(): void;
  unfollow(): void;
  close(): void;
}

/** Reports the questions without an answer when they change, in this process or another, while a browser listens. */
export function watchApprovals(
  runtime: Pick<Runtime, "database" | "approvals">,
  onChange: (pending: readonly PendingQuestion[]) => void,
): ChangeWatch {
  let followers = 0;
  let last = "";
  let stop: (() => void) | undefined;
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

  async function start(): Promise<void> {
    const database = await runtime.database();
    if (followers === 0 || stop !== undefined) return;
    stop = database.watch(readOrSkip);
    await read();
  }

  const end = (): void => {
    stop?.();
    stop = undefined;
    last = "";
  };
  return {
    follow() {
      followers++;
      if (followers === 1) start().catch(() => {}); // a store that cannot be opened is a problem of the runtime
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
