import { type Command, Option } from "commander";

import type { CommandAction } from "../command-action.ts";
import { wholeNumber } from "../input/whole-number.ts";
import type { CliSession } from "../session.ts";
import { diffRuns } from "./diff.ts";
import { exportRun, type RunExportFlags } from "./export.ts";
import { listRuns, type RunListFlags } from "./list.ts";
import { cancelRun, replayRun, resumeRun } from "./execute.ts";
import { showRun } from "./show.ts";

export function addRuns(program: Command, act: CommandAction): void {
  const runs = program
    .command("runs")
    .description("list, show, continue, repeat and compare recorded runs")
    .addHelpText("after", HELP);
  runs
    .command("list")
    .description("list the newest runs")
    .addOption(new Option("--state <state>", "only runs in this state").choices(STATES))
    .option("--limit <number>", "the number of runs", wholeNumber, 20)
    .action(act((session: CliSession, flags: RunListFlags) => listRuns(session, flags)));
  runs
    .command("show")
    .description("show the program of a run, and a timeline of its calls")
    .argument("<id>", ID)
    .action(act(showRun));
  runs
    .command("resume")
    .description("continue a run whose process has ended, or that waits for an approval")
    .argument("<id>", ID)
    .option("--accept-changes", "call methods that have changed since the run began")
    .action(act(resumeRun));
  runs.command("cancel").description("end a run").argument("<id>", ID).action(act(cancelRun));
  runs
    .command("replay")
    .description("execute the program again with the recorded answers, without providers, and compare the outcome")
    .argument("<id>", ID)
    .action(act(replayRun));
  runs
    .command("diff")
    .description("name the first call in which two runs differ, and later differences")
    .argument("<id>", ID)
    .argument("<other>", "the run to compare with")
    .action(act(diffRuns));
  runs
    .command("export")
    .description("write a run as JSON, or as a test that needs none of its providers; secrets are masked")
    .argument("<id>", ID)
    .option("--out <file>", "a new file that only you can read (default: stdout)")
    .option("--test <file>", "write a new test file for skillgate skills test, such as skills/report.test.mjs")
    .action(act((session: CliSession, id: string, flags: RunExportFlags) => exportRun(session, id, flags)));
}

const ID = "the run, or the beginning of its id";

const STATES = ["running", "waiting", "completed", "failed", "cancelled", "unknown"] as const;

const HELP = `
Runs with an effect, and runs that wait for a person, are recorded. The setting runs.record: full records all runs.

Examples:
  skillgate runs list
  skillgate runs show 3f9c
  skillgate runs export 3f9c --test skills/refund.test.mjs`;
