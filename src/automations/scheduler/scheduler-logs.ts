import { getMessage } from "../../errors.ts";
import type { SlotPlan } from "../schedule/index.ts";
import type { SchedulerClock } from "./clock.ts";
import { createLimitedLog } from "./limited-log.ts";

/** Says in the log what the scheduler of a process notices. */
export interface SchedulerLogs {
  noteJump(jumpMs: number): void;
  noteMissed(name: string, slots: SlotPlan): void;
  noteEnd(name: string): void;
  noteFault(name: string, error: unknown): void;
  close(): void;
}

export function createSchedulerLogs(log: (text: string) => void, clock: SchedulerClock): SchedulerLogs {
  const missed = createLimitedLog("automations with missed slots", log, clock);
  const ends = createLimitedLog("schedules that have ended", log, clock);
  const faults = createLimitedLog("schedules that cannot be planned", log, clock);
  return {
    noteJump: (jumpMs) => log(describeJump(jumpMs)),
    noteMissed: (name, slots) => missed.write(describeMissed(name, slots)),
    noteEnd: (name) => ends.write(`The schedule of ${name} has ended: it has no further slot`),
    noteFault: (name, error) =>
      faults.write(`Cannot plan the slots of ${name}, and tries again in a minute: ${getMessage(error)}`),
    close() {
      for (const each of [missed, ends, faults]) each.close();
    },
  };
}

/** `report missed 5 slots, the last at 2026-11-27T12:00:00.000Z; 1 of them runs now` */
function describeMissed(name: string, { due, missed, missedCount, isCountComplete, droppedCount }: SlotPlan): string {
  const lateCount = due.filter(({ isLate }) => isLate).length;
  const count = missedCount + lateCount;
  const last = Math.max(missed.at(-1) ?? 0, due.findLast(({ isLate }) => isLate)?.slot ?? 0);
  return [
    `${name} missed ${isCountComplete ? "" : "more than "}${count} ${count === 1 ? "slot" : "slots"}`,
    `, the last at ${new Date(last).toISOString()}`,
    lateCount === 0 ? "" : `; ${lateCount} of them ${lateCount === 1 ? "runs" : "run"} now`,
    droppedCount === 0 ? "" : `; ${droppedCount} of its window are too many to run`,
  ].join("");
}

/** `The clock of this machine was set forward by 2 hours; …` */
function describeJump(jumpMs: number): string {
  return jumpMs > 0
    ? `The clock of this machine went forward by ${formatSpan(jumpMs)}, or the machine slept; slots of this time were missed`
    : `The clock of this machine went back by ${formatSpan(-jumpMs)}; slots are due from the new time on`;
}

const formatSpan = (ms: number): string => {
  const seconds = Math.round(ms / 1_000);
  return seconds < 120
    ? `${seconds} s`
    : seconds < 7_200
      ? `${Math.round(seconds / 60)} min`
      : `${Math.round(seconds / 3_600)} h`;
};
