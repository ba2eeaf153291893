import type { Sandbox } from "../../../sandbox/index.ts";
import { findCancelReason } from "../../model/credential.ts";
import { KEPT_RESULT_BYTES } from "../../model/kept-results.ts";
import type { Outcome } from "../../model/outcome.ts";
import type { KnownSecrets } from "../../shared/secrets.ts";
import { addMethods } from "../outcome/add-methods.ts";
import { createOutcome } from "../outcome/index.ts";
import type { CheckedRun, RunRequest, RunServices } from "./run-services.ts";

/** Describes how a run ended. */
export function describeOutcome(
  { plan, notes, callNotes, ...ending }: CheckedRun & RunEnding,
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
  return services.secrets.maskValue(addMethods(outcome, plan, request, services));
}

type RunEnding = Pick<Parameters<typeof createOutcome>[0], "sandbox" | "calls" | "stop"> & {
  readonly callNotes: readonly string[];
};

/** The sandbox may hand out a larger result than a model gets: the rest is kept. */
export function sandboxOptions(
  { limits, cancellable, observer }: RunRequest,
  secrets: KnownSecrets,
): NonNullable<Parameters<Sandbox["run"]>[2]> {
  const resultBytes = Math.max(limits.resultBytes, KEPT_RESULT_BYTES);
  return {
    limits: { ...limits, resultBytes },
    ...(cancellable !== undefined && { cancellable }),
    ...(observer?.onOutput && { print: (text: string) => observer.onOutput?.(secrets.mask(text)) }),
  };
}
