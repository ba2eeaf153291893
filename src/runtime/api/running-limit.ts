import { type Cancellable, cancellableBy } from "../../../sandbox/index.ts";
import type { Caller } from "../../model/caller.ts";

/** A program that waits. */
interface ProgramInLane {
  readonly maxRunning: number;
  /** Lets it run, counted or not. */
  readonly start: (isCounted: boolean) => void;
}

/** The programs of one caller. */
interface Lane {
  running: number;
  /** In the order of their arrival. */
  readonly waiting: Set<ProgramInLane>;
}

/** Lets a caller with `maxRunning` have that many programs at the same time; further ones wait. */
export class RunningLimit {
  readonly #lanes = new Map<string, Lane>();

  /** Runs a program when it may. A program whose signal aborts does not wait: its run is cancelled at once. */
  async run<Result>(
    { id, limits: { maxRunning } = {} }: Caller,
    signal: AbortSignal | Cancellable | undefined,
    work: () => Promise<Result>,
  ): Promise<Result> {
    if (maxRunning === undefined) return work();
    const lane = this.#lanes.get(id) ?? { running: 0, waiting: new Set() };
    this.#lanes.set(id, lane);
    if (lane.running < maxRunning) lane.running++;
    else if (!(await waitInLane(lane, maxRunning, signal))) return work();
    try {
      return await work();
    } finally {
      lane.running--;
      startNext(lane);
      if (lane.running === 0) this.#lanes.delete(id);
    }
  }
}

/** Counts the programs that may run now before they start: another one may arrive in between. */
function startNext(lane: Lane): void {
  for (const { maxRunning, start } of lane.waiting) {
    if (lane.running >= maxRunning) return;
    lane.running++;
    start(true);
  }
}

/** Waits until a program may run; returns false if its signal aborts before. */
function waitInLane(
  { waiting }: Lane,
  maxRunning: number,
  signal: AbortSignal | Cancellable | undefined,
): Promise<boolean> {
  return new Promise((resolve) => {
    let stopListening: (() => void) | undefined;
    const program: ProgramInLane = {
      maxRunning,
      start(isCounted) {
        waiting.delete(program);
        stopListening?.();
        resolve(isCounted);
      },
    };
    waiting.add(program);
    stopListening =
      signal && ("onCancel" in signal ? signal : cancellableBy(signal)).onCancel(() => program.start(false));
  });
}
