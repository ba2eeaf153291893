import type { Snapshot } from "./snapshot.ts";

/** Addresses of the guest's own functions and of fixed values in the snapshot. */
export interface Handles {
  readonly runtime: number;
  readonly context: number;
  readonly undefined: number;
  readonly prepare: number;
  readonly follow: number;
  readonly deliver: number;
  readonly fail: number;
  readonly cannotSettle: number;
  readonly idle: number;
  /** The eight bytes behind `Math.random`. */
  readonly seed: number;
  /** The guest's fixed time, as a number of eight bytes; NaN for the host's time. */
  readonly clock: number;
}

export interface PreparedSnapshot {
  readonly snapshot: Snapshot;
  readonly handles: Handles;
}
