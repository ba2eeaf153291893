import { isDeepStrictEqual } from "node:util";

import { getMessage } from "../errors.ts";
import { findNextSlot, getStartTime, planSlots, type Schedule, type SlotPlan } from "./schedule/index.ts";
import { createJumpDetector, type SchedulerClock, SYSTEM_CLOCK } from "./scheduler/clock.ts";
import { describeJump, describeMissed } from "./scheduler/describe.ts";
import { createLimitedLog } from "./scheduler/limited-log.ts";
import { createSlotCalls, type OnDue } from "./scheduler/slot-calls.ts";
import { StartHeap } from "./scheduler/start-heap.ts";

export type { SchedulerClock } from "./scheduler/clock.ts";
export type { OnDue } from "./scheduler/slot-calls.ts";

/** An automation that runs by its schedule. */
export interface ScheduledAutomation {
  readonly name: string;
  readonly schedule: Schedule;
  /**
   * Slots until this time, in milliseconds since 1970, are no business of the scheduler: the last slot that `onDue` has stored, or
   * the time at which the automation was accepted, changed or resumed, whichever is later. Without it, the schedule begins now.
   */
  readonly lastSlot?: number;
}

export interface Scheduler {
  /** Replaces the automations. One that stays has its slots as before, also those that are due. */
  setSchedules(automations: readonly ScheduledAutomation[]): void;
  /** Ends the timer, and waits for calls of `onDue`, at most 5 s. */
  close(): Promise<void>;
}

export interface SchedulerOptions {
  readonly log: (text: string) => void;
  /** Is called when slots are due or were missed, once at a time for each automation, and again until it resolves. */
  readonly onDue: OnDue;
  readonly clock?: SchedulerClock;
}

/** The longest pause between two looks at the clock, which people can set meanwhile. */
const MAX_PAUSE_MS = 60_000;

/** The loop of the process does other work after this time. */
const SLICE_MS = 10;

/** Removed or changed entries leave items in the heap, which are removed at the latest when there are more of them. */
const MAX_STALE_ITEMS = 1_000;

/** An automation, and what is decided about its slots. */
interface ScheduleEntry {
  automation: ScheduledAutomation;
  /** A version that has not been read. */
  newer: ScheduledAutomation | undefined;
  lastSlot: number | undefined;
  /** When the run of the next slot starts; `undefined` if there is none. */
  startsAt: number | undefined;
  /** It has no further slot, and the log says so. */
  hasEnded: boolean;
}

/** Starts the slots of any number of automations with one timer. */
export function createScheduler({ log, onDue, clock = SYSTEM_CLOCK }: SchedulerOptions): Scheduler {
  const entries = new Map<string, ScheduleEntry>();
  /** Entries that are new, or have a newer version. */
  const changed = new Set<ScheduleEntry>();
  const starts = new StartHeap<ScheduleEntry>();
  const calls = createSlotCalls({ clock, log, onDue });
  const missedLog = createLimitedLog("automations with missed slots", log, clock);
  const endLog = createLimitedLog("schedules that have ended", log, clock);
  const faultLog = createLimitedLog("schedules that cannot be planned", log, clock);
  const findJump = createJumpDetector(clock);
  let stopTimer: (() => void) | undefined;
  let isClosed = false;

  /** Works for one slice of time, and sets the timer for the rest or for the next start. */
  function wake(): void {
    let pauseMs = MAX_PAUSE_MS;
    try {
      noteJump();
      const end = clock.monotonicNow() + SLICE_MS;
      let isDone = false;
      while (!isDone && clock.monotonicNow() <= end) isDone = !handleNext();
      pauseMs = isDone ? Math.max(1, getPause()) : 0;
    } finally {
      setTimer(pauseMs);
    }
  }

  function setTimer(delayMs: number): void {
    stopTimer?.();
    stopTimer = isClosed ? undefined : clock.setTimer(delayMs, wake);
  }

  function getPause(): number {
    return Math.min(MAX_PAUSE_MS, (starts.first?.at ?? Infinity) - clock.now());
  }

  /** Handles an entry that is due or has changed. Returns false if there is none. */
  function handleNext(): boolean {
    const entry = takeDue() ?? takeChanged();
    if (entry === undefined) return false;
    try {
      decide(entry);
      scheduleNext(entry);
    } catch (error) {
      faultLog.write(`Cannot plan the slots of ${entry.automation.name}, and tries again: ${getMessage(error)}`);
      setStart(entry, clock.now() + MAX_PAUSE_MS);
    }
    return true;
  }

  function takeDue(): ScheduleEntry | undefined {
    const now = clock.now();
    for (let item = starts.first; item !== undefined && item.at <= now; item = starts.first) {
      starts.removeFirst();
      if (item.value.startsAt === item.at) return item.value;
    }
    return undefined;
  }

  /** Takes a newer version of an automation, after the slots that are due in the one before. */
  function takeChanged(): ScheduleEntry | undefined {
    const [entry] = changed;
    if (entry === undefined) return undefined;
    changed.delete(entry);
    const { newer } = entry;
    if (newer === undefined) return entry;
    const now = clock.now();
    const { automation } = entry;
    if (automation !== newer && !isDeepStrictEqual(automation.schedule.times, newer.schedule.times))
      entry.lastSlot = Math.max(entry.lastSlot ?? now, now); // times of the past are not slots that were missed
    if (newer.lastSlot !== undefined)
      entry.lastSlot = Math.min(Math.max(entry.lastSlot ?? newer.lastSlot, newer.lastSlot), now);
    entry.automation = newer;
    entry.newer = undefined;
    return entry;
  }

  function decide(entry: ScheduleEntry): void {
    const { name, schedule } = entry.automation;
    const slots = planSlots(schedule, { name, lastSlot: entry.lastSlot, now: clock.now() });
    entry.lastSlot = slots.decidedUntil;
    if (slots.missedCount > 0) missedLog.write(describeMissed(name, slots));
    if (hasSlots(slots)) calls.add(name, slots);
  }

  function scheduleNext(entry: ScheduleEntry): void {
    const { name, schedule } = entry.automation;
    const slot = findNextSlot(schedule, entry.lastSlot ?? clock.now());
    if (slot === undefined && !entry.hasEnded)
      endLog.write(`The schedule of ${name} has ended: it has no further slot`);
    entry.hasEnded = slot === undefined;
    setStart(entry, slot === undefined ? undefined : getStartTime(schedule, name, slot));
  }

  function setStart(entry: ScheduleEntry, at: number | undefined): void {
    entry.startsAt = at;
    if (at === undefined) return;
    if (starts.size > 2 * entries.size + MAX_STALE_ITEMS) rebuildHeap();
    else starts.add({ at, value: entry });
  }

  function rebuildHeap(): void {
    starts.clear();
    for (const entry of entries.values())
      if (entry.startsAt !== undefined) starts.add({ at: entry.startsAt, value: entry });
  }

  /** After a step back, slots are due again from the new time on: `onDue` recognizes those that have run. */
  function noteJump(): void {
    const jumpMs = findJump();
    if (jumpMs === 0) return;
    const now = clock.now();
    log(describeJump(jumpMs));
    for (const entry of entries.values()) {
      if (entry.lastSlot === undefined || entry.lastSlot <= now) continue;
      entry.lastSlot = now;
      changed.add(entry);
    }
  }

  return {
    setSchedules(automations) {
      if (isClosed) return;
      const names = new Set(automations.map(({ name }) => name));
      for (const [name, entry] of entries) if (!names.has(name)) remove(name, entry);
      for (const automation of automations) {
        const entry = entries.get(automation.name) ?? createEntry(automation);
        entries.set(automation.name, entry);
        entry.newer = automation;
        changed.add(entry);
      }
      setTimer(0);
    },
    async close() {
      isClosed = true;
      stopTimer?.();
      await calls.close();
      for (const each of [missedLog, endLog, faultLog]) each.close();
    },
  };

  function remove(name: string, entry: ScheduleEntry): void {
    entries.delete(name);
    changed.delete(entry);
    entry.startsAt = undefined;
    calls.drop(name);
  }
}

function createEntry(automation: ScheduledAutomation): ScheduleEntry {
  return { automation, newer: undefined, lastSlot: undefined, startsAt: undefined, hasEnded: false };
}

function hasSlots({ due, missedCount }: SlotPlan): boolean {
  return due.length > 0 || missedCount > 0;
}
