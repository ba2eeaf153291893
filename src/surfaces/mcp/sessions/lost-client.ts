import { type Cancellable, Cancellation } from "../../../../sandbox/index.ts";
import { sentence, SkillgateError } from "../../../errors.ts";
import type { RunObserver } from "../../../model/run-observer.ts";

/** Creates the reason of a cancellation whose client has gone, or has lost its connection, without cancelling anything itself. */
export function createLostReason(why: string): SkillgateError {
  return new SkillgateError("CANCELLED", sentence("CANCELLED", why), { why, isClientLost: true });
}

/** The reason of a request of MCP whose connection is gone: the SDK passes on only text. */
export const CONNECTION_GONE = "the connection is gone";

/** True for a reason of `createLostReason`, for `CONNECTION_GONE`, and for the error of a closed connection of the SDK. */
export function isClientLost(reason: unknown): boolean {
  if (reason instanceof SkillgateError) return reason.facts["isClientLost"] === true;
  return reason === CONNECTION_GONE || (reason instanceof Error && reason.name === "SdkError");
}

/** The options of a run that outlives its client. */
export interface LastingRun {
  readonly signal: Cancellable;
  readonly onWait: NonNullable<RunObserver["onWait"]>;
}

/**
 * Separates a run from its client: if the client has gone while the run waits for a person, the run continues. Every other
 * cancellation ends the run. `isLost` recognizes the reason.
 */
export function outliveClient(request: Cancellable, isLost = isClientLost): LastingRun {
  const signal = new Cancellation();
  let isWaiting = false;
  request.onCancel(() => {
    const { reason } = request.signal;
    if (!isWaiting || !isLost(reason)) signal.cancel(reason instanceof Error ? reason : undefined);
  });
  return { signal, onWait: (waits) => void (isWaiting = waits) };
}
