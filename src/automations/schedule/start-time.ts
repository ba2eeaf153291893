import { createHash } from "node:crypto";

import { findNextTime } from "./find-slot.ts";
import type { Schedule } from "./schedule.ts";

/**
 * Returns when the run of a slot starts: after its jitter, which follows from the name of the automation and the slot, so that
 * all processes and restarts agree. Starts have the order of their slots: none is after the next slot.
 */
export function getStartTime(schedule: Schedule, name: string, slot: number): number {
  if (schedule.jitterMs === 0) return slot;
  const jitter = Math.floor(schedule.jitterMs * getFraction(`${name}\n${slot}`));
  // A change of the clock can shorten the time to the next slot.
  return Math.min(slot + jitter, findNextTime(schedule, slot) ?? Number.POSITIVE_INFINITY);
}

/** Returns a number from 0 to below 1. */
function getFraction(text: string): number {
  return createHash("sha256").update(text).digest().readUIntBE(0, 6) / 2 ** 48;
}
