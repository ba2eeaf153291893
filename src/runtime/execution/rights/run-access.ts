import { sentence, SkillgateError } from "../../../errors.ts";
import { type Caller, OWNER, requireCaller } from "../../../model/caller.ts";
import { readRunRecord, type RunRecord } from "../../../runs/index.ts";
import { describeUnknownName } from "../../../shared/suggest.ts";
import type { RunRow } from "../../../store/index.ts";
import type { ListOptions, RunListsOptions, RunReader } from "../run-lists.ts";
import { createHiddenError, isHidden, maySeeRun } from "./view-run.ts";

/** Finds, reads and claims runs, by the rights of callers. */
export interface RunAccess extends RunReader {
  /** Reads a record on behalf of a caller. Throws `RUN_NOT_FOUND`, `RUN_HIDDEN`. */
  readonly read: (id: string, options?: Pick<ListOptions, "caller">) => Promise<RunRecord>;
  /** Throws `RUN_BUSY` if another process executes the run. */
  claim(row: RunRow): Promise<void>;
}

/** Runs that are compared with an unknown id. */
const MAX_SUGGESTED = 100;

export function createRunAccess({ open, services }: Pick<RunListsOptions, "open" | "services">): RunAccess {
  async function find(id: string, asker?: Caller): Promise<RunRow> {
    const caller = requireCaller(asker);
    const { runs } = await open();
    const row = await runs.get(id);
    if (row !== undefined && maySeeRun(caller, row)) return row;
    const readable = (await runs.list({}, { limit: MAX_SUGGESTED })).filter((each) => maySeeRun(caller, each));
    const ids = readable.map((each) => each.id);
    const { detail, suggestions } = describeUnknownName("run", id, ids);
    throw new SkillgateError("RUN_NOT_FOUND", sentence("RUN_NOT_FOUND", detail), { suggestions });
  }

  async function readEntries(id: string): Promise<RunRecord> {
    const { runs } = await open();
    return readRunRecord(id, await runs.entries(id));
  }

  async function claim(row: RunRow): Promise<void> {
    if (await services.records.claims.claim(row)) return;
    const { claimedBy } = await find(row.id);
    throw new SkillgateError(
      "RUN_BUSY",
      sentence("RUN_BUSY", `run ${row.id}${claimedBy === null ? "" : ` in ${claimedBy}`}`),
    );
  }

  async function read(id: string, { caller = OWNER }: Pick<ListOptions, "caller"> = {}): Promise<RunRecord> {
    await find(id, caller);
    const record = await readEntries(id);
    if (isHidden(caller, record)) throw createHiddenError(id);
    return record;
  }

  return { find, readEntries, read, claim };
}
