import { type Cancellable, cancellableBy } from "../../../sandbox/index.ts";
import type { Caller } from "../../model/caller.ts";

/** The programs of one caller. */
interface Lane {
  running: number;
  /** Start the programs that wait, in their order. */
  readonly waiting: Set<() => void>;
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
    if (lane.running >= maxRunning) await waitInLane(lane, signal);
    lane.running++;
    try {
      return await work();
    } finally {
      lane.running--;
      const [next] = lane.waiting;
      if (next !== undefined) next();
      else if (lane.running === 0) this.#lanes.delete(id);
    }
  }
}

function waitInLane({ waiting }: Lane, signal: AbortSignal | Cancellable | undefined): Promise<void> {
  return new Promise((resolve) => {
    let stopListening: (() => void) | undefined;
    const start = (): void => {
      waiting.delete(start);
      stopListening?.();
      resolve();
    };
    waiting.add(start);
    stopListening = signal && ("onCancel" in signal ? signal : cancellableBy(signal)).onCancel(start);
  });
}
