import type { RetryQueue } from "../shared/retry-queue.ts";
import { type Database, getProcessName, hasEnded, type RunRow } from "../store/index.ts";

/** The claims of this process on runs. A claim that is not renewed ends, so that another process can continue the run. */
export interface Claims {
  /** The name of this process. */
  readonly by: string;
  /** Claims a run. Resolves to false if a process has claimed it, also this one. */
  claim(run: RunRow): Promise<boolean>;
  /** Renews the claim on a run that is added to the store. */
  add(run: string): void;
  /** Does not renew the claim any more. */
  remove(run: string): void;
  /** Ends the claim in the store, at the latest when the store works again. Never rejects. */
  release(run: string): Promise<void>;
  /** Returns when a claim that begins now ends, in milliseconds since 1970. */
  getEnd(): number;
  close(): void;
}

/** Milliseconds after which a claim ends, and between renewals. */
const CLAIM_MS = 60_000;
const RENEW_MS = 15_000;

/** Renews claims by a timer, which exists only while there are any. */
export function createClaims(
  open: () => Promise<Pick<Database, "runs">>,
  warn: (error: unknown) => void,
  retries: RetryQueue,
): Claims {
  const by = getProcessName();
  const claimed = new Set<string>();
  let timer: NodeJS.Timeout | undefined;
  const getEnd = (): number => Date.now() + CLAIM_MS;
  const stop = (): void => {
    clearInterval(timer);
    timer = undefined;
  };
  const remove = (run: string): void => {
    claimed.delete(run);
    if (claimed.size === 0) stop();
  };
  const renew = (): void => {
    open()
      .then(({ runs }) => runs.renew(by, [...claimed], getEnd()))
      .catch(warn);
  };
  const add = (run: string): void => {
    claimed.add(run);
    timer ??= setInterval(renew, RENEW_MS).unref();
  };
  const release = (run: string): Promise<void> => {
    remove(run);
    return retries.add(`release run ${run}`, async () => {
      const { runs } = await open();
      if (!claimed.has(run)) await runs.release(run, by);
    });
  };
  return {
    by,
    async claim(run) {
      const now = Date.now();
      if (claimed.has(run.id) || !isFree(run, now)) return false;
      add(run.id);
      try {
        const { runs } = await open();
        const isClaimed = await runs.claim(run, { by, until: getEnd(), now });
        if (!isClaimed) remove(run.id);
        return isClaimed;
      } catch (error) {
        await release(run.id); // the store may have the claim nevertheless
        throw error;
      }
    },
    add,
    remove,
    release,
    getEnd,
    close: stop,
  };
}

/** True if no process executes the run. */
export function isFree({ claimedBy, claimedUntil }: Pick<RunRow, "claimedBy" | "claimedUntil">, now: number): boolean {
  return claimedBy === null || claimedUntil < now || hasEnded(claimedBy);
}
