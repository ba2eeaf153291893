import { getMessage } from "../errors.ts";
import type { LogLevel } from "../model/skill.ts";
import { type AutomationRow, type AutomationTable, type OccurrenceRow } from "../store/index.ts";
import { chooseOccurrences, skipSlots, type StartObstacle, type StartRules } from "./choose-occurrences.ts";
import { createHourLog, isHourFull } from "./hour-limit.ts";
import { createRunId } from "./occurrence.ts";

/** An automation is paused after this number of failures in succession. */
export const MAX_FAILURES = 5;

/** How an occurrence continues after its run. */
export type OccurrenceResult =
  | { readonly kind: "completed" | "waiting" }
  | { readonly kind: "cancelled"; readonly error: string }
  /** `hasNotBegun`: its program did not run, because of its input or a change, so the automation is not at fault. */
  | { readonly kind: "failed"; readonly error: string; readonly hasNotBegun?: true }
  /** The process ends, or another one has the run: it continues later. */
  | { readonly kind: "interrupted" };

/** Executes the runs of occurrences. */
export interface OccurrenceRunner {
  /** Runs the program of an automation. Rejects only for a mistake of ours or of the store. */
  run(occurrence: OccurrenceRow, signal: AbortSignal): Promise<OccurrenceResult>;
  /** Reads how a recorded run has ended: `open` while it has not, `undefined` without a record. */
  readEnd(run: string): Promise<OccurrenceResult | "open" | undefined>;
  /** Ends the run of an occurrence that was cancelled. Resolves to false if another process executes it. */
  cancel(run: string): Promise<boolean>;
}

/** The marks by which other processes see that this one lives. */
export interface ProcessMarks {
  readonly by: string;
  hold(name: string): Promise<void>;
  remove(name: string): void;
  findFree<Claimed extends { readonly id: string; readonly claimedBy: string | null }>(
    rows: readonly Claimed[],
  ): Promise<ReadonlySet<Claimed>>;
}

export interface DispatcherOptions {
  readonly open: () => Promise<DispatcherStore>;
  readonly runner: OccurrenceRunner;
  readonly marks: ProcessMarks;
  /** The rules of an automation, or why it begins nothing now. */
  readonly findRules: (automation: string) => Promise<StartRules | StartObstacle>;
  /** Resolves when runs may begin: other work of this process may come first. Never rejects. */
  readonly whenReady?: () => Promise<void>;
  /** Called when an occurrence has ended, once over all processes. */
  readonly onEnd: (occurrence: OccurrenceRow, result: OccurrenceEnding) => void;
  readonly log: (level: LogLevel, text: string) => void;
  readonly now?: () => number;
}

interface DispatcherStore {
  readonly automations: AutomationTable;
  watch(listener: () => void): () => void;
}

export interface OccurrenceEnding {
  readonly state: "completed" | "failed" | "cancelled";
  readonly error: string | null;
  /** The automation after it; missing if it was removed. */
  readonly automation: AutomationRow | undefined;
  /** True if this failure has paused the automation. */
  readonly isPaused: boolean;
}

/** Begins the due occurrences of automations, each in one of several processes, and finds out how they end. */
export interface Dispatcher {
  /** Begins what is due of an automation, now. Never rejects. */
  dispatch(automation: string): Promise<void>;
  /** Looks at all occurrences that have not ended, now and after changes of the store. */
  start(): Promise<void>;
  /** Begins nothing more, waits `graceMs` for what runs here, and leaves the rest to other processes. */
  close(graceMs?: number): Promise<void>;
}

/** Milliseconds between two looks at the store, and the shortest time between two. */
const LOOK_MS = 5_000;
const MIN_LOOK_MS = 500;

/** The due occurrences that are read at once: few of one automation with many, and many automations with one each. */
const MAX_READ = 100;

/** Milliseconds after which a cancelled occurrence has no run any more. */
const CANCEL_MS = 3_600_000;

/** The ids of the runs of this process, also of other dispatchers in it: they have the same name in the store. */
const RUNNING_HERE = new Set<string>();

export function createDispatcher(options: DispatcherOptions): Dispatcher {
  return new StoreDispatcher(options);
}

class StoreDispatcher implements Dispatcher {
  readonly #options: DispatcherOptions;
  readonly #now: () => number;
  readonly #logFullHour: ReturnType<typeof createHourLog>;
  /** The occurrences that run in this process, by automation and id. */
  readonly #running = new Map<
    string,
    { readonly occurrence: OccurrenceRow; readonly stop: AbortController; ended: Promise<void> }
  >();
  /** The occurrences that do not begin here before a time of `performance.now()`, by automation and id. */
  readonly #pauses = new Map<string, number>();
  readonly #dispatches = new Map<string, { again: boolean; done: Promise<void> }>();
  #check: Promise<void> | undefined;
  #isStale = false;
  #timer: NodeJS.Timeout | undefined;
  #nextLookAt = Infinity;
  #stopWatching = (): void => {};
  #isClosing = false;

  constructor(options: DispatcherOptions) {
    this.#options = options;
    this.#now = options.now ?? Date.now;
    this.#logFullHour = createHourLog((text) => options.log("warn", text));
  }

  async start(): Promise<void> {
    const { watch } = await this.#options.open().then((database) => ({ watch: database.watch.bind(database) }));
    if (this.#isClosing) return;
    this.#stopWatching = watch(() => this.#checkIn(MIN_LOOK_MS));
    await this.#checkStore();
  }

  async close(graceMs = 0): Promise<void> {
    this.#isClosing = true;
    this.#stopWatching();
    clearTimeout(this.#timer);
    const ended = Promise.all([...this.#running.values()].map((each) => each.ended));
    if (graceMs > 0 && this.#running.size > 0) await waitAtMost(ended, graceMs);
    for (const { stop } of this.#running.values()) stop.abort();
    await Promise.all([ended, this.#check, ...[...this.#dispatches.values()].map(({ done }) => done)]);
  }

  dispatch(automation: string): Promise<void> {
    const current = this.#dispatches.get(automation);
    if (current !== undefined) {
      current.again = true;
      return current.done;
    }
    const state = { again: true, done: Promise.resolve() };
    this.#dispatches.set(automation, state);
    state.done = this.#dispatchAgain(automation, state).finally(() => this.#dispatches.delete(automation));
    return state.done;
  }

  async #dispatchAgain(automation: string, state: { again: boolean }): Promise<void> {
    try {
      while (state.again && !this.#isClosing) {
        state.again = false;
        await this.#beginDue(automation);
      }
    } catch (error) {
      this.#warn(`Cannot begin what is due of the automation ${automation}`, error);
      this.#checkIn(LOOK_MS);
    }
  }

  async #beginDue(automation: string): Promise<void> {
    const { findRules, marks, open, whenReady } = this.#options;
    await whenReady?.();
    const rules = await findRules(automation);
    const { automations } = await open();
    // Other processes see that this one lives before they see its claim.
    const mark = `dispatch ${automation}`;
    await marks.hold(mark);
    try {
      const now = this.#now();
      const deliveries = "obstacle" in rules ? 0 : rules.parallel + this.#pauses.size; // as many as could begin
      let isFull = false;
      const changed = await automations.changeOpen(automation, { now, deliveries }, (found) => {
        if (this.#isClosing) return [];
        if ("obstacle" in rules) return skipSlots(found, rules, now);
        const due = found.due.filter((row) => !this.#isPaused(row));
        const changes = chooseOccurrences({ ...found, due }, rules, { by: marks.by, now });
        isFull = isHourFull({ ...found, due }, changes, rules);
        return changes;
      });
      if (isFull && !("obstacle" in rules)) await this.#logFullHour(automation, rules, { automations, now });
      for (const row of changed) {
        if (row.state === "running") this.#begin(row);
        if (row.state === "skipped")
          this.#options.log("info", `The automation ${automation} skips ${row.id}: ${row.error}`);
        if (row.state === "cancelled") await this.#cancel(row);
      }
    } finally {
      marks.remove(mark);
    }
  }

  /** True for an occurrence whose run could not be recorded a moment ago: the store is not asked again at once. */
  #isPaused(row: OccurrenceRow): boolean {
    const until = this.#pauses.get(toKey(row));
    if (until === undefined) return false;
    if (performance.now() < until) return true;
    this.#pauses.delete(toKey(row));
    return false;
  }

  /**
   * Ends the run of a cancelled occurrence. Its claim stays until the run has ended, because another process may execute it: then
   * that one ends it at its next look.
   */
  async #cancel(row: OccurrenceRow): Promise<void> {
    const { marks, runner, open } = this.#options;
    const here = this.#running.get(toKey(row));
    if (here?.occurrence.run === row.run) return here.stop.abort();
    if (row.claimedBy === null || RUNNING_HERE.has(row.run)) return;
    try {
      const isFree = row.claimedBy === marks.by || (await marks.findFree([row])).has(row);
      if (!(await runner.cancel(row.run)) || !isFree) return;
      const { automations } = await open();
      await automations.updateOccurrence(row, toClaim(row), { claimedBy: null });
    } catch (error) {
      this.#warn(`Cannot cancel run ${row.run}`, error);
    }
  }

  #begin(occurrence: OccurrenceRow): void {
    const key = toKey(occurrence);
    if (this.#running.has(key)) return;
    const stop = new AbortController();
    const entry = { occurrence, stop, ended: Promise.resolve() };
    this.#running.set(key, entry);
    RUNNING_HERE.add(occurrence.run);
    entry.ended = this.#execute(occurrence, stop.signal).finally(() => {
      this.#running.delete(key);
      RUNNING_HERE.delete(occurrence.run);
      this.#options.marks.remove(key);
      if (!this.#isClosing) void this.dispatch(occurrence.automation);
    });
  }

  async #execute(occurrence: OccurrenceRow, signal: AbortSignal): Promise<void> {
    const { runner, marks } = this.#options;
    try {
      await marks.hold(toKey(occurrence));
      const result = await runner.run(occurrence, signal);
      await this.#settle(occurrence, result);
    } catch (error) {
      // The row says that it runs here, so the next look finds it again.
      this.#warn(`Cannot finish ${describe(occurrence)}`, error);
      this.#checkIn(LOOK_MS);
    }
  }

  /** Records the result of a run. */
  async #settle(occurrence: OccurrenceRow, result: OccurrenceResult): Promise<void> {
    const { automations } = await this.#options.open();
    const { run } = occurrence;
    switch (result.kind) {
      case "waiting":
        await automations.updateOccurrence(
          occurrence,
          { state: "running", run },
          { state: "waiting", claimedBy: null },
        );
        return;
      case "interrupted":
        await this.#leave(occurrence);
        return;
      case "completed":
      case "failed":
      case "cancelled": {
        const { kind: state } = result;
        const error = "error" in result ? result.error : null;
        const isCounted = state !== "cancelled" && !("hasNotBegun" in result);
        const end = { state, ended: this.#now(), error, isCounted, maxFailures: MAX_FAILURES };
        const ended = await automations.endOccurrence(occurrence, end);
        if (ended !== undefined) this.#options.onEnd(occurrence, { state, error, ...ended });
        // It was cancelled before, and its run has ended now.
        else await automations.updateOccurrence(occurrence, { state: "cancelled", run }, { claimedBy: null });
      }
    }
  }

  /** Makes an occurrence due again. Its next run continues the recorded one, so that nothing is done twice. */
  async #leave(occurrence: OccurrenceRow): Promise<void> {
    const { automations } = await this.#options.open();
    const end = await this.#options.runner.readEnd(occurrence.run);
    const { run } = occurrence;
    const isCancelled = await automations.updateOccurrence(
      occurrence,
      { state: "cancelled", run },
      { claimedBy: null },
    );
    if (isCancelled) return;
    const mine = { state: "running", claimedBy: this.#options.marks.by, run } as const;
    if (end === "open") await automations.updateOccurrence(occurrence, mine, { claimedBy: null });
    else if (end !== undefined && end.kind !== "cancelled") await this.#settle(occurrence, end);
    else {
      const attempt = end === undefined ? occurrence.attempt : occurrence.attempt + 1;
      this.#pauses.set(toKey(occurrence), performance.now() + LOOK_MS);
      this.#checkIn(LOOK_MS);
      const again = { state: "due", attempt, run: createRunId(occurrence, attempt), claimedBy: null } as const;
      await automations.updateOccurrence(occurrence, mine, again);
    }
  }

  #checkIn(delay: number): void {
    if (this.#isClosing) return;
    const at = performance.now() + delay;
    if (at >= this.#nextLookAt) return;
    this.#nextLookAt = at;
    clearTimeout(this.#timer);
    this.#timer = setTimeout(() => void this.#checkStore(), delay).unref();
  }

  /** Looks at all occurrences that have not ended; once more if the store has changed meanwhile. */
  #checkStore(): Promise<void> {
    this.#nextLookAt = Infinity;
    this.#isStale = true;
    this.#check ??= this.#checkAgain().finally(() => {
      this.#check = undefined;
      this.#checkIn(LOOK_MS);
    });
    return this.#check;
  }

  async #checkAgain(): Promise<void> {
    while (this.#isStale && !this.#isClosing) {
      this.#isStale = false;
      try {
        await this.#checkOnce();
      } catch (error) {
        this.#warn("Cannot read the occurrences of automations", error);
        return;
      }
    }
  }

  async #checkOnce(): Promise<void> {
    const { automations } = await this.#options.open();
    const running = [...this.#running.values()].map(({ occurrence }) => occurrence);
    const active = await automations.listOccurrences({ state: { in: ["running", "waiting"] } });
    await this.#stopCancelled(running);
    const ended = { gt: this.#now() - CANCEL_MS };
    const cancelled = await automations.listOccurrences({ state: "cancelled", ended, claimedBy: { gt: "" } });
    for (const row of cancelled) await this.#cancel(row);
    for (const row of active) if (!this.#running.has(toKey(row)) && !this.#isClosing) await this.#follow(row);
    await this.#dispatchAll();
  }

  /** Begins what is due of all automations. The many occurrences of one do not hide those of another. */
  async #dispatchAll(): Promise<void> {
    const { automations } = await this.#options.open();
    let last: string | undefined = "";
    while (last !== undefined && !this.#isClosing) {
      const due: readonly OccurrenceRow[] = await automations.listOccurrences(
        { state: "due", automation: { gt: last } },
        { order: "automation", descending: false, limit: MAX_READ },
      );
      for (const automation of new Set(due.map((row) => row.automation))) void this.dispatch(automation);
      last = due.length < MAX_READ ? undefined : due.at(-1)?.automation;
    }
  }

  /** Ends the runs of this process whose occurrences another one has cancelled. */
  async #stopCancelled(running: readonly OccurrenceRow[]): Promise<void> {
    const { automations } = await this.#options.open();
    for (const occurrence of running) {
      const row = await automations.getOccurrence(occurrence.automation, occurrence.id);
      const isOver = row === undefined || row.state === "cancelled" || row.run !== occurrence.run;
      if (isOver) this.#running.get(toKey(occurrence))?.stop.abort();
    }
  }

  /** Looks at an occurrence that runs in another process, or in none. */
  async #follow(row: OccurrenceRow): Promise<void> {
    const { marks, runner } = this.#options;
    const { automations } = await this.#options.open();
    if (row.claimedBy !== null) {
      const isOwn = row.claimedBy === marks.by;
      if (isOwn && RUNNING_HERE.has(row.run)) return;
      if (!isOwn && !(await marks.findFree([row])).has(row)) return;
      if (!(await automations.updateOccurrence(row, toClaim(row), { claimedBy: marks.by }))) return;
    }
    const end = await runner.readEnd(row.run);
    if (end === undefined && row.claimedBy !== null) this.#begin({ ...row, claimedBy: marks.by });
    else if (end === undefined)
      await this.#settle(row, { kind: "failed", error: `the record of run ${row.run} is gone` });
    else if (end !== "open") await this.#settle(row, end);
    // The process that follows the runs continues it.
    else if (row.claimedBy !== null)
      await automations.updateOccurrence(row, { claimedBy: marks.by }, { claimedBy: null });
  }

  #warn(what: string, error: unknown): void {
    this.#options.log("warn", `${what}: ${getMessage(error)}`);
  }
}

function toKey({ automation, id }: Pick<OccurrenceRow, "automation" | "id">): string {
  return JSON.stringify([automation, id]);
}

/** The conditions under which an occurrence has still the state, the run and the process that were read. */
function toClaim({ state, run, claimedBy }: OccurrenceRow): Pick<OccurrenceRow, "state" | "run" | "claimedBy"> {
  return { state, run, claimedBy };
}

function describe({ automation, id }: OccurrenceRow): string {
  return `the occurrence ${id} of the automation ${automation}`;
}

async function waitAtMost(done: Promise<unknown>, ms: number): Promise<void> {
  let timer: NodeJS.Timeout | undefined;
  await Promise.race([done, new Promise((resolve) => (timer = setTimeout(resolve, ms)))]);
  clearTimeout(timer);
}
