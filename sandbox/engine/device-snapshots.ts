import type { Snapshot } from "./snapshot.ts";

/** Maximum of snapshots kept; each has some 300 KB. */
const MAX_SNAPSHOTS = 8;
/** Requests of a device before its snapshot is taken: a device requested once or twice may not be requested again. */
const SIGHTINGS = 2;

/**
 * Caches snapshots that already contain `device`: creating it takes a tenth of a short run, and many programs have
 * the same one. They hold nothing of a program.
 */
export class DeviceSnapshots {
  /** By the device's description, least recently used first. A number counts requests before a snapshot is taken. */
  readonly #snapshots = new Map<string, Snapshot | number>();

  get(device: string): Snapshot | undefined {
    const snapshot = this.#snapshots.get(device);
    if (typeof snapshot !== "object") return undefined;
    this.#snapshots.delete(device);
    this.#snapshots.set(device, snapshot);
    return snapshot;
  }

  /** Counts a created device, and takes its snapshot if it was requested often enough. */
  countCreation(device: string, take: () => Snapshot): void {
    const sightings = Number(this.#snapshots.get(device) ?? 0);
    this.#snapshots.delete(device);
    this.#snapshots.set(device, sightings < SIGHTINGS ? sightings + 1 : take());
    const [oldest] = this.#snapshots.keys();
    if (this.#snapshots.size > MAX_SNAPSHOTS && oldest !== undefined) this.#snapshots.delete(oldest);
  }
}
