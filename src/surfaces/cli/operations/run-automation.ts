import type { Outcome } from "../../../model/outcome.ts";
import type { Runtime } from "../../../runtime.ts";
import type { OccurrenceRow } from "../../../store/index.ts";
import type { CommandResult } from "../command.ts";
import { outcomeToExit } from "../exit-codes.ts";
import { parseRunInput } from "../input/run-input.ts";
import { requireLasting } from "../commands/require-lasting.ts";
import { lines } from "../text/layout.ts";
import { outcomeRemarks, outcomeText } from "../text/run-texts.ts";
import type { OperationContext } from "./operation.ts";

/** Runs an automation once, or an occurrence of it again. */
export interface AutomationOperation {
  readonly kind: "automation";
  readonly name: string;
  /** The occurrence that runs again. */
  readonly occurrence?: string;
  /** JSON of the input of the run. */
  readonly input?: string;
  /** False to return when the occurrence is stored. */
  readonly wait?: boolean;
}

export async function performAutomation(
  { name, occurrence, input, wait = true }: AutomationOperation,
  { runtime, whenKnown, signal, paint, isTerminal }: OperationContext,
): Promise<CommandResult> {
  const options = input === undefined ? {} : { input: parseRunInput(input) };
  await whenKnown();
  requireLasting(await runtime.database(), "the states of automations");
  const { automations } = runtime;
  const row =
    occurrence === undefined ? await automations.run(name, options) : await automations.retry(name, occurrence);
  const facts = { automation: name, occurrence: row.id, run: row.run };
  if (!wait)
    return {
      exit: "ok",
      json: { ...facts, state: row.state },
      text: `${row.id} of ${name} is to run`,
      remarks: `See how it ends: skillgate automation history ${name}`,
    };
  const end = await whenDone(row, runtime, signal);
  const { outcome, state, error } = end;
  const json = { ...facts, state, error, outcome: outcome ?? null };
  if (outcome !== undefined)
    return {
      exit: outcomeToExit(outcome),
      json,
      text: outcomeText(outcome),
      remarks: lines([outcomeRemarks(outcome, paint, isTerminal), describeEnd(name, end)]),
    };
  return { exit: state === "completed" ? "ok" : "failed", json, text: "", remarks: describeEnd(name, end) };
}

/** How an occurrence ended, or that its run waits for a person. The outcome is missing if another process had an unrecorded run. */
interface DoneOccurrence extends Pick<OccurrenceRow, "error" | "id" | "state"> {
  readonly outcome?: Outcome;
}

async function whenDone(row: OccurrenceRow, runtime: Runtime, signal: AbortSignal): Promise<DoneOccurrence> {
  const { automations, runs } = runtime;
  const watch = new AbortController();
  let outcome: Outcome | undefined;
  const waiting = new Promise<DoneOccurrence>((resolve) => {
    const stop = runtime.on("run", (each) => {
      if (each.runId !== row.run) return;
      outcome = each;
      if (each.kind === "waiting") resolve({ id: row.id, state: "waiting", error: null, outcome: each });
    });
    watch.signal.addEventListener("abort", stop, { once: true });
  });
  try {
    const ended = automations.whenEnded(row, AbortSignal.any([signal, watch.signal])).then(async (end) => {
      // A run without a record is known only to its process.
      outcome ??= await runs.outcome(row.run).catch(() => undefined);
      return { ...end, ...(outcome !== undefined && { outcome }) };
    });
    ended.catch(() => {}); // it ends with the wait
    return await Promise.race([ended, waiting]);
  } finally {
    watch.abort();
  }
}

function describeEnd(name: string, { id, state, error, outcome }: DoneOccurrence): string {
  if (state === "completed") return "";
  if (state === "waiting")
    return `${name} continues when its approval is answered; see: skillgate automation history ${name}`;
  return lines([
    outcome === undefined ? `${name} has ${state}: ${error}` : "",
    `Run it again: skillgate automation retry ${name} ${id}`,
  ]);
}
