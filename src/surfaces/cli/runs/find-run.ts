import { SkillgateError } from "../../../errors.ts";
import type { RecordedRunFacts, Runtime } from "../../../runtime.ts";
import { requireLasting } from "../commands/require-lasting.ts";
import type { CliSession } from "../session.ts";
import { UsageError } from "../usage-error.ts";

/** Opens the recorded runs of the project. A store in memory has no runs of other processes. */
export async function openRuns(session: Pick<CliSession, "openRuntime">): Promise<Runtime> {
  const runtime = await session.openRuntime();
  requireLasting(await runtime.database(), "recorded runs");
  return runtime;
}

/** The runs among which the beginning of an id is looked for. */
const MAX_SEARCHED = 10_000;

/** Finds a run by its id or the beginning of it. Throws `RUN_NOT_FOUND`, and a usage error if several runs begin so. */
export async function findRun({ runs }: Pick<Runtime, "runs">, id: string): Promise<RecordedRunFacts> {
  if (!/^[\da-f-]{1,35}$/.test(id)) return findWhole({ runs }, id);
  const found = (await runs.list({ limit: MAX_SEARCHED })).filter((run) => run.id.startsWith(id));
  const [run] = found;
  if (run === undefined) return findWhole({ runs }, id);
  if (found.length === 1) return run;
  const ids = found.slice(0, MAX_SHOWN).map((each) => each.id);
  const message = `Cannot tell which run ${id} is: ${found.length} runs begin so, such as ${ids.join(" and ")}`;
  throw new UsageError(message, ids);
}

const MAX_SHOWN = 2;

/** A run without an effect is not recorded, which the reader may not know. */
async function findWhole({ runs }: Pick<Runtime, "runs">, id: string): Promise<RecordedRunFacts> {
  try {
    return await runs.get(id);
  } catch (error) {
    if (!(error instanceof SkillgateError) || error.code !== "RUN_NOT_FOUND") throw error;
    const fix =
      "List the runs with: skillgate runs list. A run without an effect is recorded only with the setting runs.record: full";
    throw new SkillgateError("RUN_NOT_FOUND", error.message, { ...error.facts, fix });
  }
}
