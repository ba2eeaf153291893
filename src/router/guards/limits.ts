import { createError, SkillgateError } from "../../errors.ts";
import type { CallCounter } from "../call-counter.ts";
import { type Limit, limitsOfCaller, MINUTE_MS, requireFree } from "../caller-limits.ts";
import { type CallAnswer, getMethodFacts, type Guard, type GuardedCall } from "../call.ts";
import type { SharedCounter } from "../shared-counter.ts";

/**
 * Enforces cooldowns and rate limits of methods, and the limits of callers, which `shared` counts. A call counts if it
 * passes all limits and its arguments are valid; invalid ones are refused by an inner guard.
 */
export function limits(counter: CallCounter, shared: SharedCounter): Guard {
  return (next) => {
    const afterOwn = limitsOfMethod(counter)(next);
    return (call) => {
      const own = limitsOfCaller(call.caller, getMethodFacts(call.method));
      if (own.length === 0 || call.validation().kind !== "valid") return afterOwn(call);
      return takeOwn(call, own);
    };

    async function takeOwn(call: GuardedCall, own: readonly Limit[]): Promise<CallAnswer> {
      const unit = call.requestUnit?.isUnused === true ? call.requestUnit : undefined;
      if (unit === undefined) requireFree(await shared.take(own), own);
      else unit.isUnused = false;
      let hasPassed = false;
      const answer = limitsOfMethod(counter)((passed) => {
        hasPassed = true;
        return next(passed);
      });
      try {
        return await answer(call);
      } catch (error) {
        if (!hasPassed && unit === undefined) await shared.release(own);
        else if (!hasPassed && unit !== undefined) unit.isUnused = true;
        throw error;
      }
    }
  };
}

/** The cooldown and the rate limit of the method of a call, or of each part that it contains. */
function limitsOfMethod(counter: CallCounter): Guard {
  return (next) => (call) => {
    const all = [call, ...call.parts].flatMap(({ method, rule }) => [
      ...cooldown(call, { method, rule }),
      ...rate({ method, rule }),
    ]);
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

/** The cooldown per caller and method. */
function cooldown(
  { caller }: GuardedCall,
  { method, rule: { cooldownSeconds } }: Pick<GuardedCall, "method" | "rule">,
): readonly Limit[] {
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
function rate({ method, rule: { rateLimit } }: Pick<GuardedCall, "method" | "rule">): readonly Limit[] {
  if (rateLimit <= 0) return [];
  return [
    {
      key: JSON.stringify(["rate", method.path]),
      maxCalls: rateLimit,
      lengthMs: MINUTE_MS,
      refusal(seconds) {
        const values = `"${method.path}" allows ${rateLimit} calls per minute; wait ${seconds.toFixed(1)}s`;
        const facts = { ...getMethodFacts(method), retryAfterSeconds: seconds };
        return createError("RATE_LIMIT", values, facts);
      },
    },
  ];
}
