import type { Sandbox } from "../../../sandbox/index.ts";
import { findCancelReason } from "../../model/credential.ts";
import { KEPT_RESULT_BYTES } from "../../model/kept-results.ts";
import { createUnparsedOutcome, getValueJson } from "../../shared/json/outcome-value.ts";
import type { Outcome } from "../../model/outcome.ts";
import { isTransient } from "../../shared/errors/transient.ts";
import type { KnownSecrets } from "../../shared/secrets.ts";
import { addMethods } from "../outcome/add-methods.ts";
import { getMaxAnswer } from "../outcome/answer-text.ts";
import { createOutcome, formatContinueHint, getDecodedBytes } from "../outcome/index.ts";
import type { CallCause } from "./run-calls.ts";
import type { CheckedRun, RunRequest, RunServices } from "./run-services.ts";

/** Describes how a run ended. */
export function describeOutcome(
  { plan, notes, callNotes, causes, continuation, ...ending }: CheckedRun & RunEnding,
  request: RunRequest,
  services: RunServices,
): Outcome {
  const outcome = createOutcome({
    ...ending,
    caller: request.caller,
    notes: [...notes, ...callNotes],
    limits: request.limits,
    results: services.results,
    handles: services.handles,
    secrets: services.secrets,
    cancelReason: findCancelReason(request.cancellable),
  });
  const whole = addContinuation(addMethods(outcome, { plan, source: ending.source }, request, services), continuation);
  return addCause(maskOutcome(whole, services.secrets), outcome, causes);
}

/** Returns an outcome without secrets. The value of one that is not parsed has none. */
export function maskOutcome(outcome: Outcome, secrets: KnownSecrets): Outcome {
  const json = getValueJson(outcome);
  if (json === undefined || outcome.kind !== "completed") return secrets.maskValue(outcome);
  const { kind, runId, output, text, notes, calls, usage } = outcome;
  return createUnparsedOutcome(secrets.maskValue({ kind, runId, output, text, notes, calls, usage }), json);
}

/**
 * Adds the error of the skill, the server or the store as the cause. It is not enumerable: no surface that copies the outcome
 * passes it on.
 */
function addCause(outcome: Outcome, unmasked: Outcome, causes: readonly CallCause[]): Outcome {
  if (outcome.kind !== "failed" || unmasked.kind !== "failed") return outcome;
  const { message } = unmasked.error;
  const value = causes.findLast((cause) => cause.message === message)?.error;
  if (value === undefined) return outcome;
  return { ...outcome, error: Object.defineProperty({ ...outcome.error }, "cause", { value, enumerable: false }) };
}

/** The run that a corrected program continues, and a sentence about it. */
export interface ContinuationHint {
  readonly run: string;
  /** `3 calls were made, 1 had an effect: MailMCP.send` */
  readonly facts: string;
  /** How to answer for calls of which it is not certain whether they were made; may be empty. */
  readonly answer: string;
}

function addContinuation(outcome: Outcome, hint: ContinuationHint | undefined): Outcome {
  if (outcome.kind !== "failed" || hint === undefined) return outcome;
  const { run, facts, answer } = hint;
  const how = formatContinueHint(run, isTransient(outcome.error.message) ? "same" : "corrected");
  return { ...outcome, text: `${outcome.text}\n\n${facts}. ${how}${answer}`, continue: run };
}

type RunEnding = Pick<Parameters<typeof createOutcome>[0], "sandbox" | "calls" | "stop"> & {
  readonly callNotes: readonly string[];
  readonly causes: readonly CallCause[];
  /** How a corrected program continues the run, if it fails. */
  readonly continuation?: ContinuationHint | undefined;
};

/** The sandbox may hand out a larger result than a model gets: the rest is kept. */
export function sandboxOptions(
  { caller, limits, cancellable, observer }: Pick<RunRequest, "caller" | "limits" | "cancellable" | "observer">,
  secrets: KnownSecrets,
): NonNullable<Parameters<Sandbox["run"]>[2]> {
  const resultBytes = Math.max(limits.resultBytes, KEPT_RESULT_BYTES);
  return {
    caller: caller.id,
    ...(caller.limits?.weight !== undefined && { weight: caller.limits.weight }),
    limits: { ...limits, resultBytes, described: [getMaxAnswer(limits) + 1, getDecodedBytes(limits)] },
    ...(cancellable !== undefined && { cancellable }),
    ...(observer?.onOutput && { print: (text: string) => observer.onOutput?.(secrets.mask(text)) }),
  };
}
