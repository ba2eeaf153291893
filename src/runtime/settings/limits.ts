import { isRecord } from "../../model/json.ts";
import type { Limits } from "../../model/limits.ts";
import type { Timeouts } from "../../model/timeouts.ts";
import { describeUnknownName } from "../../shared/suggest.ts";
import { formatSetting } from "../../shared/settings/check-settings.ts";
import { createOptionError } from "./options.ts";

/** The longest time that a timer can wait, in milliseconds: 24 days. */
const MAX_TIMEOUT_MS = 2 ** 31 - 1;

/** Limits with some of them replaced; throws `OPTION_INVALID` for an unknown one, or one that is not a positive number. */
export function mergeLimits(limits: Limits, changes: Partial<Limits> | undefined): Limits {
  requireNumbers("limits", Object.keys(limits), changes);
  const merged = { ...limits, ...changes };
  return { ...merged, cpuMs: bounded(merged.cpuMs), wallMs: bounded(merged.wallMs) };
}

/** The same for timeouts. */
export function mergeTimeouts(timeouts: Timeouts, changes: Partial<Timeouts> | undefined): Timeouts {
  requireNumbers("timeouts", Object.keys(timeouts), changes);
  const { validationMs, discoveryMs, lockMs, connectMs } = { ...timeouts, ...changes };
  return {
    validationMs: bounded(validationMs),
    discoveryMs: bounded(discoveryMs),
    lockMs: bounded(lockMs),
    connectMs: bounded(connectMs),
  };
}

/** A program in plain JavaScript may pass anything. */
function requireNumbers(option: string, names: readonly string[], changes: unknown = {}): void {
  if (!isRecord(changes))
    throw createOptionError(`${option} must be an object of numbers, not ${formatSetting(changes)}`);
  for (const [name, value] of Object.entries(changes)) {
    if (!names.includes(name))
      throw createOptionError(`${option} has the unknown name ${describeUnknownName("name", name, names).detail}`);
    if (typeof value !== "number" || !(value > 0) || !Number.isFinite(value))
      throw createOptionError(`${option}.${name} must be a positive number, not ${formatSetting(value)}`);
  }
}

/** A longer delay makes a timer fire at once, and not every timer takes parts of a millisecond. */
function bounded(ms: number): number {
  return Math.min(Math.ceil(ms), MAX_TIMEOUT_MS);
}
