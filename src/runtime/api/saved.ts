import { OWNER } from "../../model/caller.ts";
import type { RunRequest } from "../execution/run-services.ts";
import { runPart } from "../execution/run-checked-program.ts";
import { checkQueries } from "../refusals/check-queries.ts";
import type { SavedExecution } from "../saved/index.ts";
import type { RuntimeServices } from "../services.ts";
import type { RuntimeParts } from "./parts.ts";
import { createRequest } from "./request.ts";
import { runWhenKnown } from "./run-when-known.ts";

/** Lets saved skills run their programs, without records: the runs that make the calls have them. */
export function connectSavedCalls(parts: RuntimeParts, services: RuntimeServices): void {
  const { savedCalls, providers, audit } = parts;
  savedCalls.setExecutor({
    async execute(execution) {
      const { source, runId, depth } = execution;
      const nested = { ...services, sandbox: services.nestedSandboxes.get(depth) };
      const run = () => runPart(source, runId, createNestedRequest(execution, parts), nested);
      const outcome = await runWhenKnown(source, run, providers);
      await audit?.commitEffects(runId);
      return outcome;
    },
    async isRefused(source) {
      const checked = services.inspect(source, createRequest({ caller: OWNER }, parts));
      const { violations } = await checkQueries(checked, source);
      return violations.some(({ code }) => code !== "QUERY_UNCHECKED");
    },
  });
}

/** Creates the request of a program, with the permissions and the time of the call that it answers. */
function createNestedRequest({ context, call, input, inputSchema }: SavedExecution, parts: RuntimeParts): RunRequest {
  const { caller, signal, timeoutMs = Infinity, client, pauseTimeoutFor, automation } = context;
  const { limits } = parts.settings;
  const request = createRequest(
    {
      caller,
      signal,
      input,
      inputSchema,
      ...(client !== undefined && { observer: { client } }),
      ...(call?.approve !== undefined && { approve: call.approve }),
      ...(automation !== undefined && { automation }),
    },
    parts,
  );
  return {
    ...request,
    limits: {
      ...limits,
      wallMs: Math.max(1, Math.min(limits.wallMs, timeoutMs)),
      // The value is the result of a call, whole.
      resultBytes: limits.answerBytes,
      answerTokens: Number.MAX_SAFE_INTEGER,
    },
    ...(pauseTimeoutFor !== undefined && { pauseTimeoutFor }),
    ...(call && { within: call.within ?? { runId: call.runId, id: call.id } }),
  };
}
