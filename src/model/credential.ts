import type { Cancellable } from "../../sandbox/index.ts";
import { createError, SkillgateError } from "../errors.ts";

/** Why a credential ends while it is in use. */
export type CredentialEnd = "the key was revoked" | "the key has expired" | "the key has a new secret";

/** The validity of a credential in use. */
export interface CredentialLife {
  /** Calls back once when the credential is no longer valid. Returns a function that removes the listener. */
  onEnd(listener: (why: CredentialEnd) => void): () => void;
}

/** Creates the reason of a cancellation, which the outcome of a run states. */
export function createCancelReason(why: string): SkillgateError {
  return createError("CANCELLED", why, { why });
}

/** Returns the words of `createCancelReason`; `undefined` for an operation that was not cancelled for such a reason. */
export function findCancelReason(cancellable: Cancellable | undefined): string | undefined {
  if (cancellable?.isCancelled !== true) return undefined;
  const reason: unknown = cancellable.signal.reason;
  const why = reason instanceof SkillgateError ? reason.facts["why"] : undefined;
  return typeof why === "string" ? why : undefined;
}
