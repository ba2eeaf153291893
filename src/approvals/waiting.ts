import { getMessage } from "../errors.ts";
import type { ApprovalFacts, Database } from "../store/index.ts";

/** Waits for the answers to questions, whichever process gives them. */
export interface AnswerWaiter {
  /** Resolves to the record when it is no longer pending; rejects when the wait is ended by `stop` or `close`. */
  wait(question: Pick<ApprovalFacts, "id" | "caller" | "expires">): Promise<ApprovalFacts>;
  /** Ends a wait without an answer. */
  stop(id: string, reason: Error): void;
  /** The callers of the questions that wait, by the ids of these. */
  readonly callers: ReadonlyMap<string, string>;
}

/** Milliseconds between two looks at the records, in addition to the notices of the store. */
const RECHECK_MS = 2_000;

/** Milliseconds for which a store may not answer: answers that were given meanwhile are read afterwards. */
const MAX_OUTAGE_MS = 600_000;

/** Milliseconds before the last look from which a notice reads. What is committed still later is read at the next `RECHECK_MS`. */
const OVERLAP_MS = 5_000;

/** Milliseconds by which a timer may be early. */
const TIMER_MS = 50;

/** The longest delay of a timer, in milliseconds. */
const MAX_DELAY_MS = 2 ** 31 - 1;

interface Wait {
  readonly caller: string;
  readonly resolve: (row: ApprovalFacts) => void;
  readonly reject: (reason: Error) => void;
  timer?: NodeJS.Timeout;
}

/** Creates a waiter. Failures of the store are reported, and the records are read again later. */
export function createAnswerWaiter(
  { approvals, watch }: Pick<Database, "approvals" | "watch">,
  onFailure: (error: unknown) => void,
): AnswerWaiter {
  const waits = new Map<string, Wait>();
  let stopWatching = (): void => {};
  let recheck: NodeJS.Timeout | undefined;

  function remove(id: string): Wait | undefined {
    const wait = waits.get(id);
    clearTimeout(wait?.timer);
    waits.delete(id);
    if (waits.size === 0) {
      stopWatching();
      clearInterval(recheck);
      recheck = undefined;
    }
    return wait;
  }

  const { read, readEverything } = createReader(approvals, {
    isNeeded: () => waits.size > 0,
    onClosed: (row) => remove(row.id)?.resolve(row),
    onFailure,
  });

  /** Expires a question when its time is over by the clock of the store. */
  async function expire(id: string, expires: number): Promise<void> {
    try {
      const delay = expires - (await approvals.now());
      const wait = waits.get(id);
      if (wait === undefined) return;
      if (delay > TIMER_MS) wait.timer = setTimeout(() => void expire(id, expires), Math.min(delay, MAX_DELAY_MS));
      else {
        await approvals.expire(expires);
        await read();
      }
    } catch (error) {
      onFailure(error);
      const wait = waits.get(id);
      if (wait !== undefined) wait.timer = setTimeout(() => void expire(id, expires), RECHECK_MS);
    }
  }

  return {
    wait({ id, caller, expires }) {
      return new Promise((resolve, reject) => {
        waits.set(id, { caller, resolve, reject });
        void expire(id, expires);
        if (recheck === undefined) {
          stopWatching = watch(() => void read());
          recheck = setInterval(readEverything, RECHECK_MS);
        }
        void read();
      });
    },
    stop: (id, reason) => remove(id)?.reject(reason),
    get callers() {
      return new Map([...waits].map(([id, { caller }]) => [id, caller]));
    },
  };
}

/** Questions of one process that wait at the same time. */
const MAX_WAITING = 20_000;

/** Those of one caller, so that no caller takes the place of others. */
const MAX_WAITING_OF_CALLER = MAX_WAITING / 2;

/** True if a further question of a caller may wait beside those of `callers`, which lists the caller of each. */
export function mayWaitBeside(callers: readonly string[], caller: string): boolean {
  const own = callers.filter((each) => each === caller);
  return own.length < MAX_WAITING_OF_CALLER && callers.length < MAX_WAITING;
}

interface ReaderListener {
  readonly isNeeded: () => boolean;
  readonly onClosed: (row: ApprovalFacts) => void;
  readonly onFailure: (error: unknown) => void;
}

/** Creates functions that read the questions which were closed: since the last look, or all of the last minutes. */
function createReader(
  approvals: Database["approvals"],
  { isNeeded, onClosed, onFailure }: ReaderListener,
): { readonly read: () => Promise<void>; readonly readEverything: () => void } {
  let isReading = false;
  let isStale = false;
  /** The time of the last look, by the clock of the store; `undefined` if the next one reads everything. */
  let lastLook: number | undefined;

  /** Reads the records once more if they have changed meanwhile. */
  async function read(): Promise<void> {
    isStale = true;
    if (isReading) return;
    isReading = true;
    try {
      while (isStale && isNeeded()) {
        isStale = false;
        const now = await approvals.now();
        const since = Math.max(now - MAX_OUTAGE_MS, (lastLook ?? 0) - OVERLAP_MS);
        lastLook = now;
        for (const row of await approvals.listClosedAfter(since)) onClosed(row);
      }
    } catch (error) {
      lastLook = undefined;
      onFailure(error);
    } finally {
      isReading = false;
    }
  }

  return {
    read,
    readEverything() {
      lastLook = undefined;
      void read();
    },
  };
}

/** Returns a signal that aborts when a question has been answered, or has ended without an answer. */
export function abortWhenClosed(answered: Promise<ApprovalFacts>): AbortSignal {
  const controller = new AbortController();
  answered.then(
    ({ state, answeredBy }) => {
      const isAnswer = state === "approved" || state === "denied";
      controller.abort(
        isAnswer ? `The request was ${state} by ${JSON.stringify(answeredBy)}` : "The request has expired",
      );
    },
    (error: unknown) => controller.abort(getMessage(error)),
  );
  return controller.signal;
}
