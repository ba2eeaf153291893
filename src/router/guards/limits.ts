import { SkillgateError, sentence } from "../../errors.ts";
import type { CallCounter, CallWindow } from "../call-counter.ts";
import { type CallAnswer, getMethodFacts, type Guard, type GuardedCall } from "../call.ts";
import type { SharedCounter } from "../shared-counter.ts";

const MINUTE_MS = 60_000;
const HOUR_MS = 3_600_000;

/** A limit of one call, with the error for a call that exceeds it. */
interface Limit extends CallWindow {
  readonly refusal: (waitSeconds: number) => SkillgateError;
}

/**
 * Enforces cooldowns and rate limits of methods, and the limits of callers, which `shared` counts. A call counts if it
 * passes all limits and its arguments are valid; invalid ones are refused by an inner guard.
 */
export function limits(counter: CallCounter, shared: SharedCounter): Guard {
  return (next) => {
    const afterOwn = limitsOfMethod(counter)(next);
    return (call) => {
      const own = limitsOfCaller(call);
      if (own.length === 0 || call.validation().kind !== "valid") return afterOwn(call);
      return takeOwn(call, own);
    };

    async function takeOwn(call: GuardedCall, own: readonly Limit[]): Promise<CallAnswer> {
      requireFree(await shared.take(own), own);
      let hasPassed = false;
      const answer = limitsOfMethod(counter)((passed) => {
        hasPassed = true;
        return next(passed);
      });
      try {
        return await answer(call);
      } catch (error) {
        if (!hasPassed) await shared.release(own);
        throw error;
      }
    }
  };
}

/** The cooldown and the rate limit of the method of a call. */
function limitsOfMethod(counter: CallCounter): Guard {
  return (next) => (call) => {
    const all = [...cooldown(call), ...rate(call)];
    if (all.length === 0 || call.validation().kind !== "valid") return next(call);
    const full = counter.take(all);
    if (full instanceof Promise)
      return full.then((window) => {
        requireFree(window, all);
        return next(call);
      });
    requireFree(full, all);
    return next(call);
  };
}

function requireFree(full: ReturnType<CallCounter["take"]>, all: readonly Limit[]): void {
  if (full === undefined || full instanceof Promise) return;
  // In tenths, rounded up: a caller that waits that long is not too early.
  throw all[full.index]?.refusal(Math.ceil(full.waitMs / 100) / 10);
}

/** The cooldown per caller and method. */
function cooldown({ caller, method, rule: { cooldownSeconds } }: GuardedCall): readonly Limit[] {
  if (cooldownSeconds <= 0) return [];
  return [
    {
      key: JSON.stringify(["cooldown", method.path, caller.id]),
      maxCalls: 1,
      lengthMs: cooldownSeconds * 1_000,
      refusal: (seconds) =>
        new SkillgateError("COOLDOWN", `Tool on cooldown. Wait ${seconds.toFixed(1)}s`, {
          ...getMethodFacts(method),
          retryAfterSeconds: seconds,
        }),
    },
  ];
}

/** The rate limit per method, over all callers: at most `rateLimit` calls in any minute. */
function rate({ method, rule: { rateLimit } }: GuardedCall): readonly Limit[] {
  if (rateLimit <= 0) return [];
  return [
    {
      key: JSON.stringify(["rate", method.path]),
      maxCalls: rateLimit,
      lengthMs: MINUTE_MS,
      refusal(seconds) {
        const values = `"${method.path}" allows ${rateLimit} calls per minute; wait ${seconds.toFixed(1)}s`;
        const facts = { ...getMethodFacts(method), retryAfterSeconds: seconds };
        return new SkillgateError("RATE_LIMIT", sentence("RATE_LIMIT", values), facts);
      },
    },
  ];
}

/** The limits of the caller, over all methods. */
function limitsOfCaller({ caller, method }: GuardedCall): readonly Limit[] {
  const { perMinute, perHour } = caller.limits ?? {};
  const limit = (maxCalls: number | undefined, unit: "minute" | "hour"): readonly Limit[] => {
    if (maxCalls === undefined) return [];
    return [
      {
        key: JSON.stringify(["caller", unit, caller.id]),
        maxCalls,
        lengthMs: unit === "minute" ? MINUTE_MS : HOUR_MS,
        refusal(seconds) {
          const values = `this caller may make ${maxCalls} calls per ${unit}; wait ${seconds.toFixed(1)}s`;
          const facts = { ...getMethodFacts(method), retryAfterSeconds: seconds };
          return new SkillgateError("RATE_LIMIT", sentence("RATE_LIMIT", values), facts);
        },
      },
    ];
  };
  return [...limit(perMinute, "minute"), ...limit(perHour, "hour")];
}
