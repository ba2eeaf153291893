import type { SlotPlan } from "../schedule/index.ts";

/** `report missed 5 slots, the last at 2026-11-27T12:00:00.000Z; 1 of them runs now` */
export function describeMissed(
  name: string,
  { due, missed, missedCount, isCountComplete, droppedCount }: SlotPlan,
): string {
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
export function describeJump(jumpMs: number): string {
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
