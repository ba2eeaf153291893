import type { Run } from "./run.ts";

/** Callers whose computing time is remembered while none of their runs waits. */
const MAX_IDLE_CALLERS = 1_000;

/** Runs of one caller that wait for a thread. */
interface CallerRuns {
  /** In the order in which they were added. */
  readonly fresh: Run[];
  /** Runs whose answers have arrived. */
  readonly ready: Set<Run>;
}

/**
 * Runs that wait for a thread. The next one belongs to the caller whose programs have computed least, counted from when the
 * caller began to wait: a caller with many programs makes those of others wait for one of them, not for all.
 */
export class RunQueue {
  readonly #waiting = new Map<string, CallerRuns>();
  /** Milliseconds that the programs of a caller have computed, by its weight, at least `#floorMs` when it began to wait. */
  readonly #computedMs = new Map<string, number>();
  /** The time of the caller whose run was taken last: a caller cannot save up time in which it does not wait. */
  #floorMs = 0;

  get length(): number {
    let count = 0;
    for (const { fresh, ready } of this.#waiting.values()) count += fresh.length + ready.size;
    return count;
  }

  add(run: Run): void {
    this.#openRuns(run).fresh.push(run);
  }

  /** Adds a run that has started: answers for it have arrived. */
  addReady(run: Run): void {
    this.#openRuns(run).ready.add(run);
  }

  isReady(run: Run): boolean {
    return this.#waiting.get(run.caller)?.ready.has(run) === true;
  }

  /** Forgets that answers for a run have arrived: it has received them, or it is over. */
  deleteReady(run: Run): void {
    const runs = this.#waiting.get(run.caller);
    if (runs?.ready.delete(run) === true) this.#forgetIfEmpty(run.caller, runs);
  }

  /** The number of runs that could start or continue in any thread. */
  get movableCount(): number {
    let count = 0;
    for (const { fresh, ready } of this.#waiting.values()) {
      count += fresh.length;
      for (const { parked } of ready) if (parked !== undefined) count++;
    }
    return count;
  }

  /** Takes the next run that may have another thread: one that is ready and suspended, or a new one. */
  take(mayCompute: (caller: string) => boolean): Run | undefined {
    const callers = [...this.#waiting.keys()].filter(mayCompute).sort((a, b) => this.#getTime(a) - this.#getTime(b));
    for (const caller of callers) {
      const run = this.#takeFrom(caller);
      if (run === undefined) continue;
      this.#floorMs = Math.max(this.#floorMs, this.#getTime(caller));
      return run;
    }
    return undefined;
  }

  /** Counts time in which a run has computed. */
  charge({ caller, weight }: Run, computeMs: number): void {
    this.#computedMs.set(caller, this.#getTime(caller) + computeMs / weight);
  }

  /** True for a caller that has computed less than each of the others, or as much. */
  isFirst(caller: string, others: readonly string[]): boolean {
    return others.every((other) => this.#getTime(caller) <= this.#getTime(other));
  }

  #getTime(caller: string): number {
    return this.#computedMs.get(caller) ?? this.#floorMs;
  }

  #takeFrom(caller: string): Run | undefined {
    const runs = this.#waiting.get(caller);
    if (runs === undefined) return undefined;
    let next: Run | undefined;
    for (const run of runs.ready) if (run.parked !== undefined) next ??= run;
    if (next !== undefined) runs.ready.delete(next);
    while (next === undefined && runs.fresh.length > 0) {
      const run = runs.fresh.shift();
      if (run?.over === false) next = run;
    }
    this.#forgetIfEmpty(caller, runs);
    return next;
  }

  #openRuns({ caller }: Run): CallerRuns {
    const runs = this.#waiting.get(caller);
    if (runs !== undefined) return runs;
    const created = { fresh: [], ready: new Set<Run>() };
    this.#waiting.set(caller, created);
    this.#computedMs.set(caller, Math.max(this.#getTime(caller), this.#floorMs));
    return created;
  }

  #forgetIfEmpty(caller: string, { fresh, ready }: CallerRuns): void {
    if (fresh.length + ready.size > 0) return;
    this.#waiting.delete(caller);
    if (this.#computedMs.size <= MAX_IDLE_CALLERS) return;
    for (const idle of this.#computedMs.keys()) if (!this.#waiting.has(idle)) this.#computedMs.delete(idle);
  }
}
