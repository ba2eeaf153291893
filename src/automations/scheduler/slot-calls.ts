import { getMessage } from "../../errors.ts";
import { MAX_LISTED_SLOTS, type SlotPlan } from "../schedule/index.ts";
import type { SchedulerClock } from "./clock.ts";
import { createLimitedLog, type LimitedLog } from "./limited-log.ts";

/** Stores the slots that are due or missed, and starts what is due. It is called again with the same slots if it rejects. */
export type OnDue = (automation: string, slots: SlotPlan) => Promise<void>;

/** The calls of `onDue`: one at a time for each automation, repeated until it succeeds. */
export interface SlotCalls {
  /** Adds slots of an automation to the next call. */
  add(automation: string, slots: SlotPlan): void;
  /** Makes no further calls for an automation. */
  drop(automation: string): void;
  /** Makes no further calls, and waits for those that run, at most 5 s. */
  close(): Promise<void>;
}

interface SlotCallsOptions {
  readonly clock: SchedulerClock;
  readonly log: (text: string) => void;
  readonly onDue: OnDue;
}

/** Calls at the same time: more would only wait for the store. */
const MAX_CALLS = 32;

/** A call that takes longer does not count among those at the same time, so that others do not wait for it. */
const SLOW_MS = 5_000;

const FIRST_PAUSE_MS = 1_000;
const MAX_PAUSE_MS = 60_000;
const CLOSE_MS = 5_000;

/** Calls `onDue` for many automations at the same time. */
export function createSlotCalls(options: SlotCallsOptions): SlotCalls {
  return new RepeatedCalls(options);
}

/** The slots of one automation, and its calls. */
interface SlotCallState {
  readonly name: string;
  /** The slots of the next call. */
  slots: SlotPlan | undefined;
  isCalling: boolean;
  failures: number;
  stopPause: (() => void) | undefined;
}

class RepeatedCalls implements SlotCalls {
  readonly #clock: SchedulerClock;
  readonly #onDue: OnDue;
  readonly #failureLog: LimitedLog;
  readonly #slowLog: LimitedLog;
  readonly #states = new Map<string, SlotCallState>();
  readonly #ready = new Set<SlotCallState>();
  readonly #running = new Set<Promise<void>>();
  #callCount = 0;
  #isClosed = false;

  constructor({ clock, log, onDue }: SlotCallsOptions) {
    this.#clock = clock;
    this.#onDue = onDue;
    this.#failureLog = createLimitedLog("failures to store slots", log, clock);
    this.#slowLog = createLimitedLog("automations whose slots take long to be stored", log, clock);
  }

  add(name: string, slots: SlotPlan): void {
    if (this.#isClosed) return;
    const state = this.#states.get(name) ?? createState(name);
    this.#states.set(name, state);
    state.slots = state.slots === undefined ? slots : mergePlans(state.slots, slots);
    this.#setReady(state);
  }

  drop(name: string): void {
    const state = this.#states.get(name);
    if (state === undefined) return;
    state.stopPause?.();
    this.#states.delete(name);
    this.#ready.delete(state);
  }

  async close(): Promise<void> {
    this.#isClosed = true;
    for (const name of this.#states.keys()) this.drop(name);
    let stopTimer = (): void => {};
    const timeout = new Promise<void>((resolve) => (stopTimer = this.#clock.setTimer(CLOSE_MS, resolve)));
    await Promise.race([Promise.all(this.#running), timeout]);
    stopTimer();
    this.#failureLog.close();
    this.#slowLog.close();
  }

  /** Does nothing during a call or a pause, whose end makes the slots ready that were added meanwhile. */
  #setReady(state: SlotCallState): void {
    if (state.isCalling || state.stopPause !== undefined || this.#isDropped(state)) return;
    this.#ready.add(state);
    this.#startCalls();
  }

  #startCalls(): void {
    for (const state of this.#ready) {
      if (this.#callCount >= MAX_CALLS) return;
      this.#ready.delete(state);
      if (state.slots === undefined) continue;
      const call = this.#call(state, state.slots).finally(() => this.#running.delete(call));
      this.#running.add(call);
    }
  }

  async #call(state: SlotCallState, slots: SlotPlan): Promise<void> {
    state.slots = undefined;
    state.isCalling = true;
    const release = this.#countCall();
    const stopTimer = this.#clock.setTimer(SLOW_MS, () => {
      this.#slowLog.write(`The slots of ${state.name} take longer than ${SLOW_MS / 1_000} s to be stored`);
      release();
    });
    try {
      await this.#onDue(state.name, slots);
      state.failures = 0;
    } catch (error) {
      state.slots = state.slots === undefined ? slots : mergePlans(slots, state.slots);
      this.#repeatLater(state, error);
    }
    stopTimer();
    state.isCalling = false;
    if (state.slots !== undefined) this.#setReady(state);
    else if (!this.#isDropped(state)) this.#states.delete(state.name);
    release();
  }

  /** Counts a call until the function that it returns is called for the first time. */
  #countCall(): () => void {
    let isCounted = true;
    this.#callCount++;
    return () => {
      if (!isCounted) return;
      isCounted = false;
      this.#callCount--;
      this.#startCalls();
    };
  }

  #repeatLater(state: SlotCallState, error: unknown): void {
    if (this.#isDropped(state)) return;
    const pauseMs = Math.min(FIRST_PAUSE_MS * 2 ** state.failures, MAX_PAUSE_MS);
    state.failures++;
    const failure = `failure ${state.failures}, again in ${pauseMs / 1_000} s`;
    this.#failureLog.write(`Cannot store the slots of ${state.name} (${failure}): ${getMessage(error)}`);
    state.stopPause = this.#clock.setTimer(pauseMs, () => {
      state.stopPause = undefined;
      this.#setReady(state);
    });
  }

  #isDropped(state: SlotCallState): boolean {
    return this.#states.get(state.name) !== state;
  }
}

const createState = (name: string): SlotCallState => ({
  name,
  slots: undefined,
  isCalling: false,
  failures: 0,
  stopPause: undefined,
});

/** Joins two plans of one automation, the earlier one first. Of more than 1,000 due slots, the first ones become missed. */
function mergePlans(earlier: SlotPlan, later: SlotPlan): SlotPlan {
  const due = [...earlier.due, ...later.due];
  const dropped = due.splice(0, Math.max(0, due.length - MAX_LISTED_SLOTS)).map(({ slot }) => slot);
  const missed = [...earlier.missed, ...later.missed, ...dropped].toSorted((a, b) => a - b);
  return {
    due,
    missed: missed.slice(-MAX_LISTED_SLOTS),
    missedCount: earlier.missedCount + later.missedCount + dropped.length,
    isCountComplete: earlier.isCountComplete && later.isCountComplete,
    droppedCount: earlier.droppedCount + later.droppedCount + dropped.length,
    decidedUntil: later.decidedUntil,
  };
}
