import { createError } from "../../errors.ts";

/** Replays of one caller at the same time. Each takes a sandbox for as long as its program runs. */
const MAX_REPLAYS = 2;

/** The number of replays under way, by the id of their caller, for each runtime's runs. */
const COUNTS = new WeakMap<object, Map<string, number>>();

/** Replays a run. Rejects with `RATE_LIMIT` if the caller has two replays under way. */
export async function limitReplays<Result>(
  runs: object,
  caller: string,
  replay: () => Promise<Result>,
): Promise<Result> {
  const counts = COUNTS.get(runs) ?? new Map<string, number>();
  COUNTS.set(runs, counts);
  const count = counts.get(caller) ?? 0;
  if (count >= MAX_REPLAYS) {
    const values = `this caller has ${MAX_REPLAYS} replays under way`;
    const fix = "Wait until one of them has ended";
    throw createError("RATE_LIMIT", values, { fix });
  }
  counts.set(caller, count + 1);
  try {
    return await replay();
  } finally {
    const rest = (counts.get(caller) ?? 1) - 1;
    if (rest === 0) counts.delete(caller);
    else counts.set(caller, rest);
  }
}
