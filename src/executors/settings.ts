import type { NetworkSettings } from "../network/index.ts";

/** How this process reaches the network of executors. */
export interface ExecutorSettings extends NetworkSettings {
  /** The most runs that an executor has at once. */
  readonly concurrency: number;
}
