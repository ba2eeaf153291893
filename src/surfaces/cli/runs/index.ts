import { Option } from "commander";

import type { Outcome } from "../../../model/outcome.ts";
import type { RunDifference } from "../../../runs/index.ts";
import { truncateText } from "../../../shared/format-text.ts";
import type { CliCommand, CommandResult } from "../command.ts";
import { outcomeToExit } from "../exit-codes.ts";
import { wholeNumber } from "../input/option-values.ts";
import type { CliSession } from "../session.ts";
import { count, lines } from "../text/layout.ts";
import { outcomeRemarks, outcomeText } from "../text/run-texts.ts";
import { exportRun } from "./export.ts";
import { findRun, openRuns } from "./find-run.ts";
import { listRefusals } from "./refusals.ts";
import { listRuns, showRun } from "./show.ts";
import { whenFree } from "./when-free.ts";

export function addRuns(program: CliCommand): void {
  const runs = program
    .command("runs")
    .description("list, show, continue, repeat and compare recorded runs")
    .addHelpText("after", HELP);
  runs
    .command("list")
    .description("list the newest runs")
    .addOption(new Option("--state <state>", "only runs in this state").choices(STATES))
    .option("--limit <number>", "the number of runs", wholeNumber, 20)
    .run(listRuns);
  runs
    .command("refusals")
    .description("show what models get wrong: refused programs by mistake and method, and what would help")
    .option("--limit <number>", "the number of mistakes", wholeNumber, 20)
    .run(listRefusals);
  runs
    .command("show")
    .description("show the program of a run, and a timeline of its calls")
    .argument("<id>", ID)
    .run(showRun);
  runs
    .command("resume")
    .description("continue a run whose process has ended, or that waits for an approval")
    .argument("<id>", ID)
    .option("--accept-changes", "call methods that have changed since the run began")
    .run(resumeRun);
  runs.command("cancel").description("end a run").argument("<id>", ID).run(cancelRun);
  runs
    .command("replay")
    .description("execute the program again with the recorded answers, without providers, and compare the outcome")
    .argument("<id>", ID)
    .run(replayRun);
  runs
    .command("diff")
    .description("name the first call in which two runs differ, and later differences")
    .argument("<id>", ID)
    .argument("<other>", "the run to compare with")
    .run(diffRuns);
  runs
    .command("export")
    .description("write a run as JSON, or as a test that needs none of its providers; secrets are masked")
    .argument("<id>", ID)
    .option("--out <file>", "a new file that only you can read (default: stdout)")
    .option("--test <file>", "write a new test file for skillgate skills test, such as skills/report.test.mjs")
    .run(exportRun);
}

const ID = "the run, or the beginning of its id";

const STATES = ["refused", "running", "waiting", "completed", "failed", "cancelled", "unknown"] as const;

const HELP = `
Runs with an effect, and runs that wait for a person, are recorded. The setting runs.record: full records all runs.

Examples:
  skillgate runs list
  skillgate runs show 3f9c
  skillgate runs export 3f9c --test skills/refund.test.mjs`;

export async function resumeRun(
  session: CliSession,
  id: string,
  { acceptChanges = false }: { readonly acceptChanges?: boolean },
): Promise<CommandResult> {
  const { id: run } = await findRun(await openRuns(session), id);
  const runtime = await session.openRuntime({ until: "known" });
  const outcome = await whenFree(run, { runtime, session }, () =>
    runtime.runs.resume(run, { acceptsChanges: acceptChanges, signal: session.signal }),
  );
  return { ...outcomeResult(outcome, session), exit: outcomeToExit(outcome) };
}

export async function cancelRun(session: CliSession, id: string): Promise<CommandResult> {
  const runtime = await openRuns(session);
  const { id: run, ended } = await findRun(runtime, id);
  if (ended === null) await whenFree(run, { runtime, session }, () => runtime.runs.cancel(run));
  // The process of the run may have ended it meanwhile.
  const { state } = await findRun(runtime, run);
  const isCancelled = ended === null && state === "cancelled";
  return {
    json: { run, state },
    text: isCancelled ? `Cancelled run ${run}` : `Run ${run} has ended already: it is ${state}`,
  };
}

/** The command succeeds if the outcome is the recorded one, also if that is a failure. */
export async function replayRun(session: CliSession, id: string): Promise<CommandResult> {
  const runtime = await openRuns(session);
  const { id: run, state } = await findRun(runtime, id);
  const outcome = await runtime.runs.replay(run);
  if (outcome === undefined) {
    const text = `Run ${run} is ${state} and has no outcome. What is recorded of it is repeated without a difference`;
    return { json: { run, state, isSame: true }, text };
  }
  const { text, remarks = "" } = outcomeResult(outcome, session);
  const note = session.paint.err.dim(`Repeated run ${run} without its providers: the outcome is the same`);
  return { json: { run, state, isSame: true, outcome }, text, remarks: lines([remarks, note]) };
}

function outcomeResult(outcome: Outcome, { paint }: CliSession): Omit<CommandResult, "exit"> {
  return { json: outcome, text: outcomeText(outcome), remarks: outcomeRemarks(outcome, paint.err) };
}

/** Names the first call that differs, and later differences in short. */
export async function diffRuns(session: CliSession, id: string, other: string): Promise<CommandResult> {
  const runtime = await openRuns(session);
  const [one, two] = [await findRun(runtime, id), await findRun(runtime, other)];
  const differences = runtime.secrets.maskTexts(await runtime.runs.compare(one.id, two.id));
  const [part] = differences;
  return {
    json: { isSame: part === undefined, first: one.id, second: two.id, differences },
    text: part === undefined ? `The runs are the same: ${count(one.calls, "call")}` : differencesText(differences),
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
