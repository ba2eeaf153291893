import type { Json } from "../../model/json.ts";
import type { CronFields } from "./parse-cron.ts";

/** The ways in which a slot is treated while an earlier run of its automation has not ended. */
export const OVERLAPS = ["skip", "queue", "parallel", "cancel"] as const;

/** The missed slots that run later: none, the latest one, or all. */
export const CATCH_UPS = ["none", "one", "all"] as const;

export type ScheduleOverlap = (typeof OVERLAPS)[number];
export type ScheduleCatchUp = (typeof CATCH_UPS)[number];

/** The times at which an automation runs. A slot is one of them, in milliseconds since 1970, without its jitter. */
export interface Schedule {
  readonly times: CronTimes | IntervalTimes;
  /** The shortest time between two slots, except at changes of the clock. */
  readonly gapMs: number;
  readonly overlap: ScheduleOverlap;
  readonly catchUp: ScheduleCatchUp;
  /** How old a missed slot may be to run later. */
  readonly windowMs: number;
  /** The most that the start of a run is later than its slot. */
  readonly jitterMs: number;
  /** The last moment that may be a slot, in milliseconds since 1970. */
  readonly until?: number;
  /** The input of each run. */
  readonly input?: Json;
}

/** Times of the clock in a zone. */
export interface CronTimes {
  readonly kind: "cron";
  readonly fields: CronFields;
  /** An IANA name. */
  readonly zone: string;
}

/** The multiples of a duration since 1970, so that all processes have the same ones. */
export interface IntervalTimes {
  readonly kind: "every";
  readonly everyMs: number;
}
