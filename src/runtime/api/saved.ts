import type { Outcome } from "../../model/outcome.ts";
import type { RunRequest } from "../execution/run-services.ts";
import { runPart } from "../execution/run-checked-program.ts";
import { type SavedExecution, createSavedExecutor } from "../saved/index.ts";
import type { RuntimeServices } from "../services.ts";
import type { RuntimeParts } from "./parts.ts";
import { createRequest } from "./request.ts";
import { runWhenKnown } from "./run-when-known.ts";

/** Lets observed skills run their programs. */
export function connectSavedCalls(parts: RuntimeParts, services: RuntimeServices): void {
  const { savedCalls, settings, providers, audit } = parts;
  const run = async ({ source, runId, depth }: SavedExecution, request: () => RunRequest): Promise<Outcome> => {
    const nested = { ...services, sandbox: services.nestedSandboxes.get(depth) };
    const outcome = await runWhenKnown(source, () => runPart(source, runId, request(), nested), providers);
    await audit?.commitEffects(runId);
    return outcome;
  };
  savedCalls.setExecutor(
    createSavedExecutor({
      limits: settings.limits,
      inspect: services.inspect,
      createRequest: (options) => createRequest(options, parts),
      run,
    }),
  );
}
