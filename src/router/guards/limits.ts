import { SkillgateError, sentence } from "../../errors.ts";
import type { CallCounter, CallWindow } from "../call-counter.ts";
import { getMethodFacts, type Guard, type GuardedCall } from "../call.ts";

const MINUTE_MS = 60_000;

/** A limit of one call, with the error for a call that exceeds it. */
interface Limit extends CallWindow {
  readonly refusal: (waitSeconds: number) => SkillgateError;
}

/**
 * Enforces cooldowns and rate limits. A call counts if it passes all limits and its arguments are valid; invalid ones are
 * refused by an inner guard.
 */
export function limits(counter: CallCounter): Guard {
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
