import type { AutomationFile, OccurrenceResult, OccurrenceRunner } from "../../automations/index.ts";
import { createRunId } from "../../automations/index.ts";
import { getMessage, SkillgateError } from "../../errors.ts";
import { type Caller, OWNER } from "../../model/caller.ts";
import { isRecord, toRecord } from "../../model/json.ts";
import type { Outcome } from "../../model/outcome.ts";
import type { RunOptions } from "../../runtime.ts";
import type { RunApi } from "../api/run.ts";
import type { Database, OccurrenceRow } from "../../store/index.ts";
import type { Runs } from "../execution/runs.ts";

/** The parts of an automation that an occurrence needs to run. */
export interface RunnableAutomation {
  readonly file: AutomationFile;
  readonly caller: Caller;
}

export interface RunnerOptions {
  readonly open: () => Promise<Pick<Database, "automations" | "runs">>;
  readonly run: Pick<RunApi, "run">;
  readonly runs: Pick<Runs, "cancel" | "outcome">;
  /** Returns why an automation must not run now, or what it needs. */
  readonly prepare: (name: string) => Promise<RunnableAutomation | { readonly obstacle: string }>;
  /** Deletes the values that the programs of an automation have stored. */
  readonly deleteValues: (name: string) => Promise<unknown>;
  /** True from the beginning of the end of this process. */
  readonly isClosing: () => boolean;
}

/** Executes the runs of occurrences with the keys of their automations. */
export function createOccurrenceRunner(options: RunnerOptions): OccurrenceRunner {
  const { open, runs, prepare } = options;
  return {
    async run(occurrence, signal) {
      const prepared = await prepare(occurrence.automation);
      if ("obstacle" in prepared) return { kind: "failed", error: prepared.obstacle, hasNotBegun: true };
      try {
        const outcome = await options.run.run(
          prepared.file.source,
          await createOptions(occurrence, prepared, signal, open),
        );
        return toResult(outcome, signal, options.isClosing());
      } catch (error) {
        return toFailure(error, options.isClosing());
      } finally {
        // It was removed during the run, which may have stored values after that.
        const { automations } = await open();
        if ((await automations.get(occurrence.automation)) === undefined)
          await options.deleteValues(occurrence.automation);
      }
    },
    async readEnd(id) {
      const row = await (await open()).runs.get(id);
      if (row === undefined) return undefined;
      if (row.ended === null) return "open";
      if (row.state === "completed") return { kind: "completed" };
      if (row.state === "cancelled") return { kind: "cancelled", error: "the run was cancelled" };
      const outcome = await runs.outcome(id, { caller: OWNER }).catch(() => undefined); // its record may be damaged
      return { kind: "failed", error: describeFailure(outcome) ?? `run ${id} has failed` };
    },
    async cancel(id) {
      try {
        await runs.cancel(id);
        return true;
      } catch (error) {
        const code = error instanceof SkillgateError ? error.code : undefined;
        if (code === "RUN_NOT_FOUND") return true;
        if (code === "RUN_BUSY") return false;
        throw error;
      }
    },
  };
}

async function createOptions(
  occurrence: OccurrenceRow,
  { file, caller }: RunnableAutomation,
  signal: AbortSignal,
  open: RunnerOptions["open"],
): Promise<RunOptions> {
  const { automation, id, run: runId, kind, attempt } = occurrence;
  const database = await open();
  const stored = await database.automations.getInput(automation, id);
  const ofFile = kind === "slot" ? createSlotInput(file, id) : file.schedule?.input;
  const input = stored === undefined ? ofFile : (JSON.parse(stored) as unknown);
  const before = attempt > 1 ? await database.runs.get(createRunId(occurrence, attempt - 1)) : undefined;
  const isContinuable = before !== undefined && before.ended !== null && before.state !== "completed";
  return {
    caller,
    automation,
    signal,
    runId,
    limits: { calls: file.limits.calls, wallMs: file.limits.minutes * 60_000 },
    ...(input !== undefined && { input }),
    ...(file.input !== undefined && { inputSchema: file.input }),
    ...(kind === "delivery" && { isForeignInput: true }),
    ...(isContinuable && { continue: before.id }),
  };
}

/** The input of a slot: that of the schedule, with the time of the slot unless the schema has no place for it. */
function createSlotInput({ schedule, input: schema }: AutomationFile, slot: string): unknown {
  const { input = {} } = schedule ?? {};
  const hasPlace = schema === undefined || Object.hasOwn(toRecord(schema["properties"]), "slot");
  return hasPlace && isRecord(input) ? { slot, ...input } : input;
}

function toResult(outcome: Outcome, { aborted }: AbortSignal, isClosing: boolean): OccurrenceResult {
  if (outcome.kind === "completed" || outcome.kind === "waiting") return { kind: outcome.kind };
  // Another process has the record of the run, or the store does not work.
  if (outcome.kind === "failed" && outcome.error.code === "RECORD_FAILED") return { kind: "interrupted" };
  if (aborted) return isClosing ? { kind: "interrupted" } : { kind: "cancelled", error: "it was cancelled" };
  return { kind: "failed", error: describeFailure(outcome) ?? "it has failed" };
}

function toFailure(error: unknown, isClosing: boolean): OccurrenceResult {
  if (isClosing) return { kind: "interrupted" };
  if (error instanceof SkillgateError && error.code === "RUN_BUSY") return { kind: "interrupted" };
  const hasNotBegun = error instanceof SkillgateError && error.code === "INPUT_INVALID";
  return { kind: "failed", error: getMessage(error), ...(hasNotBegun && { hasNotBegun }) };
}

function describeFailure(outcome: Outcome | undefined): string | undefined {
  if (outcome?.kind === "failed") {
    const { line, message } = outcome.error;
    return line > 0 ? `line ${line}: ${message}` : message;
  }
  if (outcome?.kind !== "refused") return undefined;
  const [first] = outcome.violations;
  return first && `the program was refused at line ${first.line}: ${first.message}`;
}
