import { getMessage, SkillgateError } from "../../errors.ts";
import { createRefusedRun, type RefusedProgram } from "../../runs/index.ts";
import type { Database } from "../../store/index.ts";

/** Records programs that were refused, in the background: a refusal is answered at once. */
export interface RefusalRecorder {
  add(program: RefusedProgram): void;
  /** Resolves when everything is recorded. */
  flush(): Promise<void>;
}

interface RefusalRecorderOptions {
  readonly open: () => Promise<Pick<Database, "runs">>;
  /** Keeps all; else the newest `MAX_KEPT_REFUSALS`. */
  readonly keepsAll: boolean;
  readonly warn: (text: string) => void;
}

/** Refused programs that the store keeps without `runs.record: full`. */
const MAX_KEPT_REFUSALS = 200;

/** How often those beyond this number are deleted, which takes longer than recording one. */
const PRUNE_EVERY_MS = 200;
const MAX_PRUNED = 500;

/** Refused programs that wait for the store; further ones are not recorded. */
const MAX_WAITING = 100;

export function createRefusalRecorder({ open, keepsAll, warn }: RefusalRecorderOptions): RefusalRecorder {
  let waiting = 0;
  let last: Promise<void> = Promise.resolve();
  let pruning: NodeJS.Timeout | undefined;

  function enqueue(work: () => Promise<void>): Promise<void> {
    last = last.then(work).catch((error: unknown) => {
      // An executor on the same store has recorded it.
      if (error instanceof SkillgateError && error.code === "STORE_CONFLICT") return;
      warn(`Cannot record a refused program: ${getMessage(error)}`);
    });
    return last;
  }

  async function record(program: RefusedProgram, time: number): Promise<void> {
    const { row, entry } = createRefusedRun(program, time);
    const { runs } = await open();
    await runs.add(row, entry);
    if (!keepsAll) pruning ??= setTimeout(() => void enqueue(prune), PRUNE_EVERY_MS).unref();
  }

  async function prune(): Promise<void> {
    clearTimeout(pruning);
    pruning = undefined;
    const { runs } = await open();
    const oldest = await runs.list({ state: "refused" }, { offset: MAX_KEPT_REFUSALS, limit: MAX_PRUNED });
    await runs.delete(...oldest.map(({ id }) => id));
  }

  return {
    add(program) {
      if (waiting >= MAX_WAITING) return;
      waiting++;
      const time = Date.now();
      void enqueue(() => record(program, time)).finally(() => waiting--);
    },
    async flush() {
      await last;
      if (pruning !== undefined) await enqueue(prune);
    },
  };
}
