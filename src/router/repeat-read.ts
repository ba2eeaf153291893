import { setTimeout as wait } from "node:timers/promises";

import { SkillgateError } from "../errors.ts";
import { getEffectKnowledge } from "../model/tools/effects.ts";
import { findRetryAfterMs, isTransient } from "../shared/errors/transient.ts";
import type { GuardedCall } from "./call.ts";
import { getThrownText } from "./to-guest-error.ts";

/** Calls a provider once. */
type ProviderCall = () => Promise<unknown>;

/** The pause before the second attempt, if the server names none. */
const PAUSE_MS = 300;

/** A server that asks for a longer pause is not asked again. */
const MAX_PAUSE_MS = 5_000;

/**
 * Makes an attempt, and a second one if the call only reads and the first one failed for a moment. A provider that repeats calls itself
 * says so in its error: it knows more of the failure than a message says.
 */
export async function repeatRead(call: GuardedCall, attempt: ProviderCall): Promise<unknown> {
  const startedAt = performance.now();
  try {
    return await attempt();
  } catch (thrown) {
    if (countAttempts(thrown) !== undefined) throw thrown;
    const pauseMs = findPause(call, getThrownText(thrown), performance.now() - startedAt);
    if (pauseMs === undefined) throw thrown;
    await wait(pauseMs, undefined, { signal: call.cancellable.signal });
    call.attempts.count += 1;
    return attempt();
  }
}

/** Returns how often a provider has made a call that failed; `undefined` if it leaves repeating to the router. */
export function countAttempts(thrown: unknown): number | undefined {
  return thrown instanceof SkillgateError ? thrown.facts.attempts : undefined;
}

/** Returns the pause before a second attempt; `undefined` if there must be none. */
function findPause(call: GuardedCall, message: string, elapsedMs: number): number | undefined {
  if (!mayRepeat(call) || !isTransient(message)) return undefined;
  const pauseMs = findRetryAfterMs(message) ?? PAUSE_MS;
  const leftMs = (call.timeoutMs ?? Infinity) - elapsedMs;
  return pauseMs <= MAX_PAUSE_MS && pauseMs < leftMs ? pauseMs : undefined;
}

/**
 * A limit on the calls of a method counts each attempt; another machine repeats its calls itself; a second attempt would
 * ask a person again.
 */
function mayRepeat({ skill, method, rule, cancellable, attempts }: GuardedCall): boolean {
  const isLimited = rule.rateLimit > 0 || rule.cooldownSeconds > 0;
  const isFree = !isLimited && !attempts.mayHaveAsked && !cancellable.isCancelled;
  return isFree && getEffectKnowledge(method) === "none" && skill.kind !== "node";
}
