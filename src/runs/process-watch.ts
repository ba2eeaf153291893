import { type Database, hasEnded } from "../store/index.ts";

/** Milliseconds for which this process must have watched the counter of another one stand still, which then has ended. */
const STILL_MS = 30_000;

/** The longest time that counts between two looks: this process may have stood still itself. */
const MAX_GAP_MS = 10_000;

/** The counter of a process at the last look. */
interface Sighting {
  /** `undefined` for a process without a row. */
  readonly beat: number | undefined;
  /** When it was read last, in milliseconds of a clock that only measures. */
  readonly at: number;
  /** Milliseconds for which the counter was seen to stand still. */
  readonly stillMs: number;
}

/**
 * Watches whether the counters of other processes rise. No clocks are compared: only the time that this process measures between
 * its own looks counts.
 */
export class ProcessWatch {
  readonly #open: () => Promise<Pick<Database, "processes">>;
  readonly #stillMs: number;
  readonly #sightings = new Map<string, Sighting>();

  constructor(open: () => Promise<Pick<Database, "processes">>, stillMs = STILL_MS) {
    this.#open = open;
    this.#stillMs = stillMs;
  }

  /** Reads the counters, those of `names` too if they have none. Returns those that have ended since the last look. */
  async read(names: Iterable<string> = []): Promise<readonly string[]> {
    const { processes } = await this.#open();
    const begin = performance.now();
    const rows = await processes.list();
    const end = performance.now();
    const beats = new Map(rows.map(({ name, beat }) => [name, beat]));
    const before = new Set(this.#listEnded());
    for (const name of new Set([...this.#sightings.keys(), ...beats.keys(), ...names])) {
      const last = this.#sightings.get(name);
      const beat = beats.get(name);
      const gap = last === undefined ? 0 : Math.min(Math.max(0, begin - last.at), MAX_GAP_MS);
      const stillMs = last !== undefined && last.beat === beat ? last.stillMs + gap : 0;
      this.#sightings.set(name, { beat, at: end, stillMs });
    }
    return this.#listEnded().filter((name) => !before.has(name));
  }

  /** True if a process has ended by the last look. */
  hasEnded(name: string): boolean {
    return hasEnded(name) || (this.#sightings.get(name)?.stillMs ?? 0) >= this.#stillMs;
  }

  /** Forgets the processes that have ended and are not in `names`: those have claims. */
  async forget(names: ReadonlySet<string>): Promise<void> {
    const { processes } = await this.#open();
    for (const name of this.#listEnded().filter((each) => !names.has(each))) {
      const { beat } = this.#sightings.get(name) ?? {};
      this.#sightings.delete(name);
      if (beat !== undefined) await processes.delete({ name, beat });
    }
  }

  #listEnded(): readonly string[] {
    return [...this.#sightings.keys()].filter((name) => this.hasEnded(name));
  }
}
