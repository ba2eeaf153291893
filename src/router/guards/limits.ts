import { SkillgateError, sentence } from "../../errors.ts";
import { getMethodFacts, type Guard, type GuardedCall } from "../call.ts";

const MINUTE_MS = 60_000;

/** Expired cooldowns are removed when there are more than this. */
const MAX_COOLDOWNS = 10_000;

/** A rule on how often a method may be called. */
interface Limit {
  /** Throws if the call is too early. */
  check(call: GuardedCall): void;
  /** Counts the call. */
  take(call: GuardedCall): void;
}

/**
 * Enforces cooldowns and rate limits. A call counts if it passes all limits and its arguments are valid. The check is
 * synchronous, so that simultaneous calls cannot pass together.
 */
export function limits(now: () => number): Guard {
  const all = [cooldown(now), rate(now)];
  return (next) => (call) => {
    for (const limit of all) limit.check(call);
    if (call.validation().kind === "valid") for (const limit of all) limit.take(call);
    return next(call);
  };
}

/** The cooldown per caller and method. */
function cooldown(now: () => number): Limit {
  const endsAt = new Map<string, number>();
  const key = ({ caller, method }: GuardedCall): string => JSON.stringify([caller.id, method.path]);
  return {
    check(call) {
      const waitMs = (endsAt.get(key(call)) ?? 0) - now();
      if (waitMs <= 0) return;
      const seconds = inTenths(waitMs);
      const facts = { ...getMethodFacts(call.method), retryAfterSeconds: seconds };
      throw new SkillgateError("COOLDOWN", `Tool on cooldown. Wait ${seconds.toFixed(1)}s`, facts);
    },
    take(call) {
      const { cooldownSeconds } = call.method.metadata;
      if (cooldownSeconds <= 0) return;
      if (endsAt.size >= MAX_COOLDOWNS) for (const [other, end] of endsAt) if (end <= now()) endsAt.delete(other);
      endsAt.set(key(call), now() + cooldownSeconds * 1_000);
    },
  };
}

/** The rate limit per method, over all callers: at most `rateLimit` calls in any minute. */
function rate(now: () => number): Limit {
  const callTimes = new Map<string, number[]>();
  return {
    check({ method }) {
      const { rateLimit } = method.metadata;
      // The next call is allowed when this call is a minute old.
      const first = rateLimit > 0 ? callTimes.get(method.path)?.at(-rateLimit) : undefined;
      const waitMs = first === undefined ? 0 : first + MINUTE_MS - now();
      if (waitMs <= 0) return;
      const seconds = inTenths(waitMs);
      const values = `"${method.path}" allows ${rateLimit} calls per minute; wait ${seconds.toFixed(1)}s`;
      const facts = { ...getMethodFacts(method), retryAfterSeconds: seconds };
      throw new SkillgateError("RATE_LIMIT", sentence("RATE_LIMIT", values), facts);
    },
    take({ method }) {
      const { rateLimit } = method.metadata;
      if (rateLimit <= 0) return;
      const times = callTimes.get(method.path) ?? [];
      times.push(now());
      if (times.length > 2 * rateLimit) times.splice(0, times.length - rateLimit);
      callTimes.set(method.path, times);
    },
  };
}

/** Converts to seconds in tenths, rounded up: a caller that waits that long is not too early. */
function inTenths(ms: number): number {
  return Math.ceil(ms / 100) / 10;
}
