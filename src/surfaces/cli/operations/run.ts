import type { Approval } from "../../../approvals/index.ts";
import { KEPT_RESULT_BYTES } from "../../../model/kept-results.ts";
import { DEFAULT_LIMITS, type Limits } from "../../../model/limits.ts";
import { outcomeToExit } from "../exit-codes.ts";
import type { CommandResult } from "../terminal/terminal.ts";
import { pendingText } from "../text/approval-texts.ts";
import { lines } from "../text/layout.ts";
import { skillStackText, warningsText } from "../text/output.ts";
import { outcomeRemarks, outcomeText, traceText } from "../text/run-texts.ts";
import { lacksSkill, selectProblems } from "../unknown-path.ts";
import type { OperationContext, RunOperation } from "./operation.ts";

export async function performRun(operation: RunOperation, context: OperationContext): Promise<CommandResult> {
  const { source, timeoutMs, hasTrace, kind: _kind, ...continuation } = operation;
  const { runtime, whenKnown, signal, paint, isVerbose, isTerminal, options } = context;
  // With --verbose, wait until all problems are known.
  if (isVerbose) await whenKnown();
  const pending: Approval[] = [];
  const stop = runtime.on("approval", (approval) => {
    const isOwn = options.runId === undefined || approval.runId === options.runId;
    if (isOwn && !approval.isWaiting) pending.push(approval);
  });
  const outcome = await runtime
    .run(source, {
      ...options,
      ...continuation,
      signal,
      limits: { ...showWhole(runtime.limits), ...(timeoutMs !== undefined && { wallMs: timeoutMs }) },
    })
    .finally(stop);
  const isInterrupted = outcome.kind === "failed" && outcome.error.code === "CANCELLED" && signal.aborted;
  const isLacking = outcome.kind === "refused" && lacksSkill(outcome.violations);
  return {
    exit: outcomeToExit(outcome),
    json: outcome,
    text: outcomeText(outcome),
    ...(isInterrupted
      ? { isInterrupted }
      : { remarks: lines([outcomeRemarks(outcome, paint, isTerminal), pendingText(pending, paint)]) }),
    asides: lines([
      outcome.kind === "failed" ? skillStackText(outcome.error.cause, paint) : "",
      warningsText(selectProblems(runtime, isVerbose || isLacking), paint),
      hasTrace ? traceText(outcome, paint) : "",
    ]),
  };
}

/** Without a limit in the settings, the whole result is printed: nothing could read a part of it after this process. */
function showWhole({ resultBytes }: Limits): Partial<Limits> {
  return resultBytes === DEFAULT_LIMITS.resultBytes ? { resultBytes: KEPT_RESULT_BYTES } : {};
}
