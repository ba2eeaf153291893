import type { RecordedRunFacts } from "../../../runtime.ts";
import type { RunStatus } from "../../../store/index.ts";
import type { CliSession } from "../session.ts";
import type { CommandResult, Paint } from "../terminal/terminal.ts";
import { count, escaped, lines, shortened, table } from "../text/layout.ts";
import { openRuns } from "./find-run.ts";

export interface RunListFlags {
  readonly state?: RunStatus;
  readonly limit: number;
}

export async function listRuns(session: CliSession, { state, limit }: RunListFlags): Promise<CommandResult> {
  const { runs: recorded, secrets } = await openRuns(session);
  const runs = secrets.maskTexts(await recorded.list({ limit, ...(state !== undefined && { state }) }));
  return { exit: "ok", json: { runs }, text: runs.length === 0 ? NOTHING : runsText(runs, session.paint.out) };
}

const NOTHING = "No recorded runs. A run without an effect is recorded only with the setting runs.record: full";

const TITLE_UNITS = 60;
const SHORT_ID_UNITS = 8;

function runsText(runs: readonly RecordedRunFacts[], paint: Paint): string {
  const isShort = new Set(runs.map(({ id }) => id.slice(0, SHORT_ID_UNITS))).size === runs.length;
  return lines(
    table(
      runs.map(({ id, state, created, calls, effects, caller, title }) => [
        paint.cyan(isShort ? id.slice(0, SHORT_ID_UNITS) : id),
        stateText(state, paint),
        paint.dim(timeText(created)),
        `${count(calls, "call")}, ${count(effects, "effect")}`,
        escaped(caller),
        escaped(shortened(title, TITLE_UNITS)),
      ]),
    ),
  );
}

/** Colours a state by what it asks of the reader. */
export function stateText(state: RunStatus, paint: Paint): string {
  if (state === "completed") return paint.green(state);
  return state === "waiting" || state === "running" ? paint.yellow(state) : paint.red(state);
}

export function timeText(time: number): string {
  return `${new Date(time).toISOString().slice(0, 19).replace("T", " ")} UTC`;
}
