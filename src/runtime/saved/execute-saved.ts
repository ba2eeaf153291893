import type { Approve } from "../../model/approval.ts";
import { OWNER } from "../../model/caller.ts";
import type { Limits } from "../../model/limits.ts";
import type { Outcome } from "../../model/outcome.ts";
import type { RunRequest } from "../execution/run-services.ts";
import type { CheckProgram } from "../check-program.ts";
import { checkQueries } from "../refusals/check-queries.ts";
import type { RunOptions } from "../../runtime.ts";
import type { SavedExecution, SavedExecutor } from "./saved-calls.ts";

interface ExecutorOptions {
  readonly limits: Limits;
  readonly inspect: CheckProgram;
  readonly createRequest: (options: RunOptions) => RunRequest;
  /** Runs a program without a record: the run that makes the call has one. */
  readonly run: (execution: SavedExecution, request: () => RunRequest) => Promise<Outcome>;
}

/** Creates the function that runs the programs of saved skills, with the permissions and the time of their callers. */
export function createSavedExecutor({ limits, inspect, createRequest, run }: ExecutorOptions): SavedExecutor {
  return {
    execute(execution: SavedExecution) {
      const { context, call, input, inputSchema } = execution;
      const { caller, signal, timeoutMs = Infinity, client, pauseTimeoutFor, automation } = context;
      const approve: Approve | false | undefined = call?.approve;
      return run(execution, () => ({
        ...createRequest({
          caller,
          signal,
          input,
          inputSchema,
          ...(client !== undefined && { observer: { client } }),
          ...(approve !== undefined && { approve }),
          ...(automation !== undefined && { automation }),
        }),
        limits: {
          ...limits,
          wallMs: Math.max(1, Math.min(limits.wallMs, timeoutMs)),
          // The value is the result of a call, whole.
          resultBytes: limits.answerBytes,
          answerTokens: Number.MAX_SAFE_INTEGER,
        },
        ...(pauseTimeoutFor !== undefined && { pauseTimeoutFor }),
        ...(call && { within: call.within ?? { runId: call.runId, id: call.id } }),
      }));
    },
    async isRefused(source) {
      const { violations } = await checkQueries(inspect(source, createRequest({ caller: OWNER })), source);
      return violations.some(({ code }) => code !== "QUERY_UNCHECKED");
    },
  };
}
