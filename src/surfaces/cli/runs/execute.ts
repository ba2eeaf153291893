import type { Outcome } from "../../../model/outcome.ts";
import { outcomeToExit } from "../exit-codes.ts";
import type { CliSession } from "../session.ts";
import type { CommandResult } from "../terminal/terminal.ts";
import { lines } from "../text/layout.ts";
import { outcomeRemarks, outcomeText } from "../text/run-texts.ts";
import { findRun, openRuns } from "./find-run.ts";

export async function resumeRun(
  session: CliSession,
  id: string,
  { acceptChanges = false }: { readonly acceptChanges?: boolean },
): Promise<CommandResult> {
  const { id: run } = await findRun(await openRuns(session), id);
  const runtime = await session.readyRuntime();
  const outcome = await runtime.runs.resume(run, { acceptsChanges: acceptChanges, signal: session.signal });
  return { ...outcomeResult(outcome, session), exit: outcomeToExit(outcome) };
}

export async function cancelRun(session: CliSession, id: string): Promise<CommandResult> {
  const runtime = await openRuns(session);
  const { id: run, ended, state } = await findRun(runtime, id);
  if (ended !== null) return { exit: "ok", json: { run, state }, text: `Run ${run} has ended already: it is ${state}` };
  await runtime.runs.cancel(run);
  return { exit: "ok", json: { run, state: "cancelled" }, text: `Cancelled run ${run}` };
}

/** The command succeeds if the outcome is the recorded one, also if that is a failure. */
export async function replayRun(session: CliSession, id: string): Promise<CommandResult> {
  const runtime = await openRuns(session);
  const { id: run, state } = await findRun(runtime, id);
  const outcome = await runtime.runs.replay(run);
  if (outcome === undefined) {
    const text = `Run ${run} is ${state} and has no outcome. What is recorded of it is repeated without a difference`;
    return { exit: "ok", json: { run, state, isSame: true }, text };
  }
  const { text, remarks = "" } = outcomeResult(outcome, session);
  const note = session.paint.err.dim(`Repeated run ${run} without its providers: the outcome is the same`);
  return { exit: "ok", json: { run, state, isSame: true, outcome }, text, remarks: lines([remarks, note]) };
}

function outcomeResult(outcome: Outcome, { paint }: CliSession): Omit<CommandResult, "exit"> {
  return { json: outcome, text: outcomeText(outcome), remarks: outcomeRemarks(outcome, paint.err) };
}
