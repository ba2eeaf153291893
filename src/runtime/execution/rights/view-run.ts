import { sentence, SkillgateError } from "../../../errors.ts";
import { type Caller, mayAdminister, mayRead, mayReadAll, requireAdmin } from "../../../model/caller.ts";
import type { Outcome } from "../../../model/outcome.ts";
import type { RunRecord, TimelineCall } from "../../../runs/index.ts";
import type { RunRow } from "../../../store/index.ts";
import { isBuiltin } from "../../builtin-calls.ts";
import type { RecordedRunFacts } from "../run-lists.ts";

/** A run as a caller may see it. */
export interface ShownRun {
  readonly run: RecordedRunFacts;
  /** Program, calls and outcome; `undefined` if the run names methods that the caller may not see. */
  readonly content: RunContent | undefined;
}

/** The parts of a run that contain its program, arguments and results. */
interface RunContent {
  readonly record: RunRecord;
  readonly timeline: readonly TimelineCall[];
  readonly outcome: Outcome | undefined;
}

/** True for the own runs of a caller, and for all if it may see those of others. Any other run does not exist for it. */
export function maySeeRun(caller: Caller, run: Pick<RunRow, "caller">): boolean {
  return run.caller === caller.id || mayAdminister(caller, "Read");
}

/** Throws `ADMIN_MISSING` for a run of another caller without the right to manage runs. */
export function requireMayChange(caller: Caller, run: Pick<RunRow, "caller">): void {
  if (run.caller !== caller.id) requireAdmin(caller, "ManageRuns");
}

/** True if no part of the run must be hidden from the caller, whatever its record contains. */
export function seesWhole(caller: Caller, run: Pick<RunRow, "caller">): boolean {
  return run.caller === caller.id || mayReadAll(caller);
}

/**
 * True if a run of another caller names a method that this one may not read: then its program, arguments and results are hidden. A
 * refused program may name any method, and the refusal others like it.
 */
export function isHidden(
  caller: Caller,
  { header, calls, outcome }: Pick<RunRecord, "header" | "calls" | "outcome">,
): boolean {
  if (seesWhole(caller, { caller: header.caller.id })) return false;
  if (outcome?.kind === "refused") return true;
  const paths = [...header.program.paths, ...[...calls.values()].map(({ path }) => path)];
  return paths.some((path) => !isBuiltin(path) && !mayRead(caller, path));
}

export function createHiddenError(id: string): SkillgateError {
  return new SkillgateError("RUN_HIDDEN", sentence("RUN_HIDDEN", `run ${id}`));
}
