import type { RunDifference } from "../../../runs/index.ts";
import { truncateText } from "../../../shared/format-text.ts";
import type { CliSession } from "../session.ts";
import type { CommandResult } from "../terminal/terminal.ts";
import { count, lines } from "../text/layout.ts";
import { findRun, openRuns } from "./find-run.ts";

/** Names the first call that differs, and later differences in short. */
export async function diffRuns(session: CliSession, id: string, other: string): Promise<CommandResult> {
  const runtime = await openRuns(session);
  const [one, two] = [await findRun(runtime, id), await findRun(runtime, other)];
  const [first, second] = [await runtime.runs.record(one.id), await runtime.runs.record(two.id)];
  const { compareRuns } = await import("../../../runs/index.ts");
  const differences = runtime.secrets.maskTexts(
    compareRuns({ state: one.state, record: first }, { state: two.state, record: second }),
  );
  const [part] = differences;
  return {
    exit: "ok",
    json: { isSame: part === undefined, first: one.id, second: two.id, differences },
    text:
      part === undefined ? `The runs are the same: ${count(first.calls.size, "call")}` : differencesText(differences),
  };
}

const MAX_SHOWN_UNITS = 300;
const MAX_LATER = 10;

function differencesText([first, ...later]: readonly RunDifference[]): string {
  if (first === undefined) return "";
  const more = later.length > MAX_LATER ? [`  … and ${later.length - MAX_LATER} more`] : [];
  return lines([
    first.call === undefined ? "All calls are the same. The runs differ in:" : "The first call that differs:",
    `  ${differenceTitle(first)}`,
    `    - ${truncateText(first.first, MAX_SHOWN_UNITS)}`,
    `    + ${truncateText(first.second, MAX_SHOWN_UNITS)}`,
    later.length === 0 ? "" : "Later differences:",
    ...later.slice(0, MAX_LATER).map((difference) => `  ${differenceTitle(difference)}`),
    ...more,
  ]);
}

function differenceTitle({ call, path, part }: RunDifference): string {
  return call === undefined ? part : `call ${call}, ${path}: ${part}`;
}
