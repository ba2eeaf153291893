import type { RetryQueue } from "./retry-queue.ts";
import { type Database, getProcessName, type RunRow } from "../store/index.ts";
import { ProcessWatch } from "./process-watch.ts";

/**
 * The claims of this process on runs. While it has any, it raises its counter in the store. Another process takes over its runs
 * after it has watched the counter stand still, or at once if it is certain that this process has ended.
 */
export interface Claims {
  /** The name of this process. */
  readonly by: string;
  /** Claims a run. Resolves to false if a process has claimed it, also this one. */
  claim(run: RunRow): Promise<boolean>;
  /** Prepares the claim on a run that is added to the store next. */
  hold(run: string): Promise<void>;
  /** Forgets a claim that the store does not have any more. */
  remove(run: string): void;
  /** Ends the claim in the store, at the latest when the store works again. Never rejects. */
  release(run: string): Promise<void>;
  /** Returns those of the runs that no process executes. */
  findFree<Run extends ClaimedRun>(runs: readonly Run[]): Promise<ReadonlySet<Run>>;
  /** Looks whether other processes live. Resolves to true if one has ended since the last look. */
  checkProcesses(): Promise<boolean>;
  /** Forgets the processes that have ended and have no claims on these runs, which are all that have not ended. */
  forget(runs: readonly ClaimedRun[]): Promise<void>;
  close(): Promise<void>;
}

type ClaimedRun = Pick<RunRow, "id" | "claimedBy">;
type ClaimStore = Pick<Database, "runs" | "processes">;

/** Milliseconds between two changes of the counter. */
const BEAT_MS = 5_000;

/** Changes of the counter after the last claim: the next claim is probably near. */
const IDLE_BEATS = 12;

/** The counter of this process, also for several runtimes in it. */
let beat = 0;

/** `stillMs` is the time for which the counter of another process must stand still. */
export function createClaims(
  open: () => Promise<ClaimStore>,
  retries: RetryQueue,
  { warn, stillMs }: { readonly warn: (error: unknown) => void; readonly stillMs?: number },
): Claims {
  const by = getProcessName();
  const claimed = new Set<string>();
  const pulse = createPulse(open, { by, isNeeded: () => claimed.size > 0, warn });
  const watch = new ProcessWatch(open, stillMs);

  async function findFree<Run extends ClaimedRun>(runs: readonly Run[]): Promise<ReadonlySet<Run>> {
    const isFree = ({ claimedBy }: Run): boolean =>
      claimedBy === null || (claimedBy !== by && watch.hasEnded(claimedBy));
    // The rows were read before: the counter of a process that has claimed a run since it was idle has risen by now.
    const owners = new Set(
      runs.flatMap(({ claimedBy }) => (claimedBy === null || claimedBy === by ? [] : [claimedBy])),
    );
    if (owners.size > 0) await watch.read(owners);
    return new Set(runs.filter(isFree));
  }

  function release(run: string): Promise<void> {
    claimed.delete(run);
    return retries.add(`release run ${run}`, async () => {
      const { runs } = await open();
      if (!claimed.has(run)) await runs.release(run, by);
    });
  }

  return {
    by,
    findFree,
    release,
    async claim(run) {
      if (claimed.has(run.id)) return false;
      claimed.add(run.id);
      let isClaimed = false;
      try {
        if (!(await findFree([run])).has(run)) return false;
        await pulse.begin();
        const { runs } = await open();
        isClaimed = await runs.claim(run, { by, now: Date.now() });
        return isClaimed;
      } catch (error) {
        void release(run.id); // the store may have the claim nevertheless
        throw error;
      } finally {
        if (!isClaimed) claimed.delete(run.id);
      }
    },
    async hold(run) {
      claimed.add(run);
      await pulse.begin();
    },
    remove: (run) => void claimed.delete(run),
    checkProcesses: async () => (await watch.read()).length > 0,
    forget: (runs) => watch.forget(new Set(runs.flatMap(({ claimedBy }) => claimedBy ?? []))),
    close: () => pulse.close(),
  };
}

/** Raises the counter of this process. */
interface Pulse {
  /** Resolves when the counter has risen since the process had no claims. */
  begin(): Promise<void>;
  close(): Promise<void>;
}

function createPulse(
  open: () => Promise<ClaimStore>,
  {
    by,
    isNeeded,
    warn,
  }: { readonly by: string; readonly isNeeded: () => boolean; readonly warn: (error: unknown) => void },
): Pulse {
  let begun: Promise<void> | undefined;
  let timer: NodeJS.Timeout | undefined;
  let idleBeats = 0;

  async function raise(): Promise<void> {
    const { processes } = await open();
    await processes.put({ name: by, beat: ++beat });
  }

  function stop(): void {
    clearInterval(timer);
    begun = undefined;
  }

  function onTimer(): void {
    idleBeats = isNeeded() ? 0 : idleBeats + 1;
    if (idleBeats > IDLE_BEATS) stop();
    else raise().catch(warn);
  }

  return {
    begin() {
      if (begun !== undefined) return begun;
      idleBeats = 0;
      begun = raise();
      timer = setInterval(onTimer, BEAT_MS).unref();
      begun.catch(stop); // the next claim tries again
      return begun;
    },
    async close() {
      if (begun === undefined) return;
      stop();
      if (!isNeeded())
        await open()
          .then(({ processes }) => processes.delete({ name: by, beat }))
          .catch(() => {}); // another process deletes it
    },
  };
}
