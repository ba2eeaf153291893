import type { Snapshot } from "./snapshot.ts";

/** So many are kept: each has some 300 KB. */
const MAX_SNAPSHOTS = 8;
/** What was asked for once or twice may never come again. */
const SIGHTINGS = 2;

/**
 * Images in which a snippet's `device` is there already: making it takes a tenth of a short run, and many snippets have
 * the same. They hold nothing of a snippet.
 */
export class DeviceSnapshots {
  /** By what the device was made of; the one used last is the last. A number says how often it was asked for. */
  readonly #images = new Map<string, Snapshot | number>();

  get(device: string): Snapshot | undefined {
    const image = this.#images.get(device);
    if (typeof image !== "object") return undefined;
    this.#images.delete(device);
    this.#images.set(device, image);
    return image;
  }

  /** A device was made: its image is taken if it is asked for again and again. */
  made(device: string, take: () => Snapshot): void {
    const sightings = Number(this.#images.get(device) ?? 0);
    this.#images.delete(device);
    this.#images.set(device, sightings < SIGHTINGS ? sightings + 1 : take());
    const [oldest] = this.#images.keys();
    if (this.#images.size > MAX_SNAPSHOTS && oldest !== undefined) this.#images.delete(oldest);
  }
}
