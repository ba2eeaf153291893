import { SkillgateError, sentence } from "../../errors.ts";
import { getMethodFacts, type Guard, type GuardedCall } from "../call.ts";

const MINUTE_MS = 60_000;

/** Cooldowns that are over are forgotten when there are more than these. */
const MAX_COOLDOWNS = 10_000;

/** A rule on how often a method may be called. */
interface Limit {
  /** Throws if the call is too early. */
  check(call: GuardedCall): void;
  /** Counts the call. */
  take(call: GuardedCall): void;
}

/**
 * Cooldowns and rates. A call counts when all limits let it through and its arguments are valid (X1); nothing is awaited
 * in between, so that calls at the same moment cannot slip through together.
 */
export function limits(now: () => number): Guard {
  const all = [cooldown(now), rate(now)];
  return (next) => (call) => {
    for (const limit of all) limit.check(call);
    if (call.validation().kind === "valid") for (const limit of all) limit.take(call);
    return next(call);
  };
}

/** Per caller and method (X4). */
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

/** Per method, whoever calls (P5): so many calls in any minute. */
function rate(now: () => number): Limit {
  const callTimes = new Map<string, number[]>();
  return {
    check({ method }) {
      const { rateLimit } = method.metadata;
      // The call that must be a minute old before the next one may come.
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

/** Seconds in steps of a tenth, rounded up: whoever waits that long does not come too early. */
function inTenths(ms: number): number {
  return Math.ceil(ms / 100) / 10;
}
