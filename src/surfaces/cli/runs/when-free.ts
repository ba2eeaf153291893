import { setTimeout } from "node:timers/promises";

import { SkillgateError } from "../../../errors.ts";
import type { Runtime } from "../../../runtime.ts";
import type { CliSession } from "../session.ts";

/** Milliseconds between two tries. Each looks at the counter of the process that has the run, which rises every 5 s. */
const RETRY_MS = 5_000;

/** Tries until a process whose counter stands still counts as ended, which takes 30 s. */
const MAX_TRIES = 8;

/**
 * Does something with a run. If another process has the run, waits until that process has shown that it lives, or counts as
 * ended. Throws `RUN_BUSY` for a run of a process that lives.
 */
export async function whenFree<Result>(
  run: string,
  { runtime, session }: { readonly runtime: Runtime; readonly session: Pick<CliSession, "signal" | "write"> },
  act: () => Promise<Result>,
): Promise<Result> {
  const first = await findOwner(run, runtime);
  for (let attempt = 1; ; attempt++) {
    try {
      return await act();
    } catch (error) {
      const isBusy = error instanceof SkillgateError && error.code === "RUN_BUSY";
      const owner = isBusy ? await findOwner(run, runtime) : undefined;
      const isLiving = owner?.name !== first?.name || owner?.beat !== first?.beat;
      if (owner === undefined || isLiving || attempt === MAX_TRIES) throw error;
      if (attempt === 1) session.write("err", describeWait(run, owner.name));
      await setTimeout(RETRY_MS, undefined, { signal: session.signal });
    }
  }
}

interface RunOwner {
  readonly name: string;
  /** `undefined` for a process without a counter. */
  readonly beat: number | undefined;
}

async function findOwner(run: string, runtime: Runtime): Promise<RunOwner | undefined> {
  const { runs, processes } = await runtime.database();
  const { claimedBy: name } = (await runs.get(run)) ?? {};
  if (name === undefined || name === null) return undefined;
  return { name, beat: (await processes.list()).find((each) => each.name === name)?.beat };
}

function describeWait(run: string, owner: string): string {
  return `Run ${run} is in process ${owner}. Waiting for at most ${(RETRY_MS * (MAX_TRIES - 1)) / 1_000} s, to see whether that has ended; Ctrl-C ends the wait\n`;
}
