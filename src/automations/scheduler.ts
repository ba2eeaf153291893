import { isDeepStrictEqual } from "node:util";

import { findNextSlot, getStartTime, planSlots, type Schedule } from "./schedule/index.ts";
import { createJumpDetector, type SchedulerClock, SYSTEM_CLOCK } from "./scheduler/clock.ts";
import { createSchedulerLogs, type SchedulerLogs } from "./scheduler/scheduler-logs.ts";
import { createSlotCalls, type OnDue, type SlotCalls } from "./scheduler/slot-calls.ts";
import { StartHeap } from "./scheduler/start-heap.ts";

export type { SchedulerClock } from "./scheduler/clock.ts";
export type { OnDue } from "./scheduler/slot-calls.ts";

/** An automation that runs by its schedule. */
export interface ScheduledAutomation {
  readonly name: string;
  readonly schedule: Schedule;
  /**
   * Only later slots are started, in milliseconds since 1970: the last slot that `onDue` has stored, or the time at which the
   * automation was accepted, changed or resumed, whichever is later. Without it, the schedule begins now.
   */
  readonly lastSlot?: number;
}

export interface Scheduler {
  /** Replaces the automations, soon. One that stays has its slots as before, also those that are due. */
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
const SLICE_MS = 5;

/** The automations of a list that are read at once. */
const LIST_PART = 100;

/** Removed or changed entries leave items in the heap, which are removed at the latest when there are more of them. */
const MAX_STALE_ITEMS = 1_000;

/** An automation, and what is decided about its slots. */
interface ScheduleEntry {
  automation: ScheduledAutomation;
  /** A version that has not been read. */
  newer: ScheduledAutomation | undefined;
  lastSlot: number | undefined;
  /** When the run of the next slot starts; `undefined` if no slot follows. */
  startsAt: number | undefined;
  /** It has no further slot, and the log says so. */
  hasEnded: boolean;
  /** The number of the last list that contains it. */
  listNumber: number;
  /** Its next start must be computed. */
  isChanged: boolean;
  isRemoved: boolean;
}

/** Starts the slots of any number of automations with one timer. */
export function createScheduler(options: SchedulerOptions): Scheduler {
  return new TimedScheduler(options);
}

class TimedScheduler implements Scheduler {
  readonly #clock: SchedulerClock;
  readonly #calls: SlotCalls;
  readonly #logs: SchedulerLogs;
  readonly #findJump: () => number;
  readonly #entries = new Map<string, ScheduleEntry>();
  /** Entries whose next start must be computed. */
  readonly #changed: ScheduleEntry[] = [];
  readonly #starts = new StartHeap<ScheduleEntry>();
  /** The list that `setSchedules` has set last, until it has been read; its number, and how many of it have been read. */
  #list: readonly ScheduledAutomation[] | undefined;
  #listNumber = 0;
  #readCount = 0;
  #stopTimer: (() => void) | undefined;
  #isClosed = false;

  constructor({ log, onDue, clock = SYSTEM_CLOCK }: SchedulerOptions) {
    this.#clock = clock;
    this.#calls = createSlotCalls({ clock, log, onDue });
    this.#logs = createSchedulerLogs(log, clock);
    this.#findJump = createJumpDetector(clock);
  }

  setSchedules(automations: readonly ScheduledAutomation[]): void {
    if (this.#isClosed) return;
    this.#list = automations;
    this.#readCount = 0;
    this.#listNumber++;
    this.#setTimer(0);
  }

  async close(): Promise<void> {
    this.#isClosed = true;
    this.#stopTimer?.();
    await this.#calls.close();
    this.#logs.close();
  }

  #addEntry(automation: ScheduledAutomation): ScheduleEntry {
    const entry = createEntry(automation);
    this.#entries.set(automation.name, entry);
    return entry;
  }

  #markChanged(entry: ScheduleEntry, newer?: ScheduledAutomation): void {
    if (newer !== undefined) entry.newer = newer;
    if (!entry.isChanged) this.#changed.push(entry);
    entry.isChanged = true;
  }

  #remove(name: string, entry: ScheduleEntry): void {
    this.#entries.delete(name);
    entry.isRemoved = true;
    entry.startsAt = undefined;
    this.#calls.drop(name);
  }

  #setTimer(delayMs: number): void {
    this.#stopTimer?.();
    this.#stopTimer = this.#isClosed ? undefined : this.#clock.setTimer(delayMs, () => this.#wake());
  }

  /** Works for one slice of time, and sets the timer for the rest or for the next start. */
  #wake(): void {
    let pauseMs = MAX_PAUSE_MS;
    try {
      this.#noteJump();
      const end = this.#clock.monotonicNow() + SLICE_MS;
      let isDone = false;
      while (!isDone && this.#clock.monotonicNow() <= end) isDone = !this.#handleNext();
      pauseMs = isDone ? Math.max(1, this.#getPause()) : 0;
    } finally {
      this.#setTimer(pauseMs);
    }
  }

  #getPause(): number {
    return Math.min(MAX_PAUSE_MS, (this.#starts.first?.at ?? Infinity) - this.#clock.now());
  }

  /** After a step back, slots are due again from the new time on: `onDue` recognizes those that have run. */
  #noteJump(): void {
    const jumpMs = this.#findJump();
    if (jumpMs === 0) return;
    const now = this.#clock.now();
    this.#logs.noteJump(jumpMs);
    for (const entry of this.#entries.values()) {
      if (entry.lastSlot === undefined || entry.lastSlot <= now) continue;
      entry.lastSlot = now;
      this.#markChanged(entry);
    }
  }

  /** Handles an entry that is due or has changed, or reads a part of the list. Returns false if there is nothing to do. */
  #handleNext(): boolean {
    const entry = this.#takeDue() ?? this.#takeChanged();
    if (entry === undefined) return this.#readList();
    try {
      this.#decide(entry);
      this.#scheduleNext(entry);
    } catch (error) {
      this.#logs.noteFault(entry.automation.name, error);
      this.#setStart(entry, this.#clock.now() + MAX_PAUSE_MS);
    }
    return true;
  }

  /** Reads a part of the list of `setSchedules`. Returns false if it has been read. */
  #readList(): boolean {
    const list = this.#list;
    if (list === undefined) return false;
    const end = Math.min(this.#readCount + LIST_PART, list.length);
    for (const automation of list.slice(this.#readCount, end)) {
      const entry = this.#entries.get(automation.name) ?? this.#addEntry(automation);
      entry.listNumber = this.#listNumber;
      if (hasNews(entry, automation)) this.#markChanged(entry, automation);
    }
    this.#readCount = end;
    if (end === list.length) this.#endList();
    return true;
  }

  #endList(): void {
    this.#list = undefined;
    for (const [name, entry] of this.#entries) if (entry.listNumber !== this.#listNumber) this.#remove(name, entry);
  }

  #takeDue(): ScheduleEntry | undefined {
    const now = this.#clock.now();
    for (let item = this.#starts.first; item !== undefined && item.at <= now; item = this.#starts.first) {
      this.#starts.removeFirst();
      if (item.value.startsAt === item.at) return item.value;
    }
    return undefined;
  }

  /** Takes an entry with its newer version, after the slots that are due in the one before. */
  #takeChanged(): ScheduleEntry | undefined {
    for (let entry = this.#changed.pop(); entry !== undefined; entry = this.#changed.pop()) {
      entry.isChanged = false;
      if (entry.isRemoved) continue;
      renew(entry, this.#clock.now());
      return entry;
    }
    return undefined;
  }

  #decide(entry: ScheduleEntry): void {
    const { name, schedule } = entry.automation;
    const slots = planSlots(schedule, { name, lastSlot: entry.lastSlot, now: this.#clock.now() });
    entry.lastSlot = slots.decidedUntil;
    if (slots.missedCount > 0 || slots.due.some(({ isLate }) => isLate)) this.#logs.noteMissed(name, slots);
    if (slots.missedCount > 0 || slots.due.length > 0) this.#calls.add(name, slots);
  }

  #scheduleNext(entry: ScheduleEntry): void {
    const { name, schedule } = entry.automation;
    const slot = findNextSlot(schedule, entry.lastSlot ?? this.#clock.now());
    if (slot === undefined && !entry.hasEnded) this.#logs.noteEnd(name);
    entry.hasEnded = slot === undefined;
    this.#setStart(entry, slot === undefined ? undefined : getStartTime(schedule, name, slot));
  }

  #setStart(entry: ScheduleEntry, at: number | undefined): void {
    entry.startsAt = at;
    if (at !== undefined) this.#starts.add({ at, value: entry });
    if (this.#starts.size > 2 * this.#entries.size + MAX_STALE_ITEMS) this.#rebuildHeap();
  }

  #rebuildHeap(): void {
    this.#starts.clear();
    for (const entry of this.#entries.values())
      if (entry.startsAt !== undefined) this.#starts.add({ at: entry.startsAt, value: entry });
  }
}

function createEntry(automation: ScheduledAutomation): ScheduleEntry {
  return {
    automation,
    newer: automation,
    lastSlot: undefined,
    startsAt: undefined,
    hasEnded: false,
    listNumber: 0,
    isChanged: false,
    isRemoved: false,
  };
}

/** True if the slots of an automation can be others than before. */
function hasNews({ automation, newer, lastSlot }: ScheduleEntry, next: ScheduledAutomation): boolean {
  const isSame = newer === undefined && automation.schedule === next.schedule;
  return !isSame || (next.lastSlot ?? -Infinity) > (lastSlot ?? -Infinity);
}

/** Replaces an automation by its newer version, if it has one. */
function renew(entry: ScheduleEntry, now: number): void {
  const { automation, newer } = entry;
  if (newer === undefined) return;
  const hasOtherTimes = automation !== newer && !isDeepStrictEqual(automation.schedule.times, newer.schedule.times);
  if (hasOtherTimes) entry.lastSlot = now; // times of the past are not slots that were missed
  const lastSlot = Math.max(entry.lastSlot ?? -Infinity, newer.lastSlot ?? -Infinity);
  entry.lastSlot = Number.isFinite(lastSlot) ? Math.min(lastSlot, now) : undefined;
  entry.automation = newer;
  entry.newer = undefined;
}
