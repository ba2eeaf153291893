import { createError, type ErrorFacts, type SkillgateError } from "../errors.ts";
import type { Caller } from "../model/caller.ts";
import type { CallCounter, CallWindow } from "./call-counter.ts";
import { getCallerBucket } from "../store/index.ts";
import type { SharedCounter } from "./shared-counter.ts";

export const MINUTE_MS = 60_000;
const HOUR_MS = 3_600_000;

/** A limit of one call, with the error for a call that exceeds it. */
export interface Limit extends CallWindow {
  readonly refusal: (waitSeconds: number) => SkillgateError;
}

/** The unit that a program counts when it starts. Its first call uses the unit, so that a program without calls counts, too. */
export interface RequestUnit {
  isUnused: boolean;
}

/** A request that has no record elsewhere. */
export type UnrecordedRequest = "replay" | "check";

/** Counts a request in the limits of its caller; throws `RATE_LIMIT`. Returns `undefined` for a caller without limits. */
export async function countRequest(
  caller: Caller,
  shared: SharedCounter,
  what?: UnrecordedRequest,
): Promise<RequestUnit | undefined> {
  const all = limitsOfCaller(caller);
  if (all.length > 0) requireFree(await shared.take(all), all);
  if (what !== undefined) await shared.note(getCallerBucket(what, caller.id));
  return all.length > 0 ? { isUnused: true } : undefined;
}

/** The limits of a caller, over all methods. `facts` are those of the error. */
export function limitsOfCaller({ id, limits = {} }: Caller, facts: ErrorFacts = {}): readonly Limit[] {
  const { perMinute, perHour } = limits;
  const limit = (maxCalls: number | undefined, unit: "minute" | "hour"): readonly Limit[] => {
    if (maxCalls === undefined) return [];
    return [
      {
        key: getCallerBucket(unit, id),
        maxCalls,
        lengthMs: unit === "minute" ? MINUTE_MS : HOUR_MS,
        refusal(seconds) {
          const values = `this caller may make ${maxCalls} calls per ${unit}; wait ${seconds.toFixed(1)}s`;
          return createError("RATE_LIMIT", values, {
            ...facts,
            retryAfterSeconds: seconds,
          });
        },
      },
    ];
  };
  return [...limit(perMinute, "minute"), ...limit(perHour, "hour")];
}

/** Throws the error of the full window, if one is full. */
export function requireFree(full: ReturnType<CallCounter["take"]>, all: readonly Limit[]): void {
  if (full === undefined || full instanceof Promise) return;
  // In tenths, rounded up: a caller that waits that long is not too early.
  throw all[full.index]?.refusal(Math.ceil(full.waitMs / 100) / 10);
}
