import { MAX_LISTED_SLOTS, type SlotPlan } from "../schedule/index.ts";

/** Joins two plans of one automation, the earlier one first. Of more than 1,000 due slots, the first ones become missed. */
export function mergePlans(earlier: SlotPlan, later: SlotPlan): SlotPlan {
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
