export { describeSchedule, formatZoneTime, getScheduleZone } from "./describe-schedule.ts";
export { findNextSlot, listSlots } from "./find-slot.ts";
export { parseSchedule } from "./parse-schedule.ts";
export { GRACE_MS, MAX_COUNTED_SLOTS, MAX_LISTED_SLOTS, planSlots, type SlotPlan } from "./plan-slots.ts";
export type { Schedule, ScheduleOverlap } from "./schedule.ts";
export { getStartTime } from "./start-time.ts";
