import { getMessage } from "../../errors.ts";
import type { SlotPlan } from "../schedule/index.ts";
import type { SchedulerClock } from "./clock.ts";
import { createLimitedLog } from "./limited-log.ts";
import { mergePlans } from "./merge-plans.ts";

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

/** The slots of one automation, and its calls. */
interface CallState {
  /** The slots of the next call. */
  slots: SlotPlan | undefined;
  isCalling: boolean;
  failures: number;
  stopPause: (() => void) | undefined;
}

/** Calls `onDue` for many automations at the same time. */
export function createSlotCalls({ clock, log, onDue }: SlotCallsOptions): SlotCalls {
  const states = new Map<string, CallState>();
  const ready = new Set<string>();
  const running = new Set<Promise<void>>();
  const failureLog = createLimitedLog("failures to store slots", log, clock);
  const slowLog = createLimitedLog("automations whose slots take long to be stored", log, clock);
  let callCount = 0;
  let isClosed = false;

  function startCalls(): void {
    for (const name of ready) {
      if (callCount >= MAX_CALLS || isClosed) return;
      ready.delete(name);
      const state = states.get(name);
      if (state?.slots === undefined) continue;
      const call = runCall(name, state, state.slots).finally(() => running.delete(call));
      running.add(call);
    }
  }

  async function runCall(name: string, state: CallState, slots: SlotPlan): Promise<void> {
    state.slots = undefined;
    state.isCalling = true;
    const release = countCall();
    const stopTimer = clock.setTimer(SLOW_MS, () => {
      slowLog.write(`The slots of ${name} take longer than ${SLOW_MS / 1_000} s to be stored`);
      release();
    });
    try {
      await onDue(name, slots);
      state.failures = 0;
    } catch (error) {
      state.slots = state.slots === undefined ? slots : mergePlans(slots, state.slots);
      repeatLater(name, state, error);
    }
    stopTimer();
    state.isCalling = false;
    if (state.slots !== undefined) setReady(name, state);
    else if (states.get(name) === state) states.delete(name);
    release();
  }

  /** Counts a call until the function that it returns is called for the first time. */
  function countCall(): () => void {
    let isCounted = true;
    callCount++;
    return () => {
      if (!isCounted) return;
      isCounted = false;
      callCount--;
      startCalls();
    };
  }

  function repeatLater(name: string, state: CallState, error: unknown): void {
    if (states.get(name) !== state) return; // dropped meanwhile
    const pauseMs = Math.min(FIRST_PAUSE_MS * 2 ** state.failures, MAX_PAUSE_MS);
    state.failures++;
    const failure = `failure ${state.failures}, again in ${pauseMs / 1_000} s`;
    failureLog.write(`Cannot store the slots of ${name} (${failure}): ${getMessage(error)}`);
    state.stopPause = clock.setTimer(pauseMs, () => {
      state.stopPause = undefined;
      setReady(name, state);
    });
  }

  /** Does nothing during a call or a pause, whose end makes the slots ready that were added meanwhile. */
  function setReady(name: string, state: CallState): void {
    if (state.isCalling || state.stopPause !== undefined || states.get(name) !== state) return;
    ready.add(name);
    startCalls();
  }

  function drop(name: string): void {
    states.get(name)?.stopPause?.();
    states.delete(name);
    ready.delete(name);
  }

  return {
    add(name, slots) {
      if (isClosed) return;
      const state = states.get(name) ?? { slots: undefined, isCalling: false, failures: 0, stopPause: undefined };
      states.set(name, state);
      state.slots = state.slots === undefined ? slots : mergePlans(state.slots, slots);
      setReady(name, state);
    },
    drop,
    async close() {
      isClosed = true;
      for (const name of states.keys()) drop(name);
      let stopTimer = (): void => {};
      const timeout = new Promise<void>((resolve) => (stopTimer = clock.setTimer(CLOSE_MS, resolve)));
      await Promise.race([Promise.all(running), timeout]);
      stopTimer();
      failureLog.close();
      slowLog.close();
    },
  };
}
