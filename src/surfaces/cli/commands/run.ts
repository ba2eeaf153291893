import type { Command } from "commander";

import type { CommandAction } from "../command-action.ts";
import { outcomeToExit } from "../exit-codes.ts";
import type { Approval } from "../../../approvals/index.ts";
import { pendingText } from "../text/approval-texts.ts";
import { lines } from "../text/layout.ts";
import { skillStackText, warningsText } from "../text/output.ts";
import { lacksSkill, selectProblems } from "../unknown-path.ts";
import { outcomeRemarks, outcomeText, traceText } from "../text/run-texts.ts";
import { readSource, type SnippetFlags, takesSnippet } from "../input/snippet-source.ts";
import { showLiveOutput } from "../terminal/live-output.ts";
import { wholeNumber } from "../input/whole-number.ts";

interface RunFlags extends SnippetFlags {
  readonly timeout?: number;
  readonly trace?: true;
  readonly yes?: true;
  readonly continue?: string;
  readonly again?: readonly number[];
  readonly reuse?: readonly number[];
}

export function addRun(program: Command, act: CommandAction): void {
  takesSnippet(program.command("run"))
    .description("run a snippet")
    .option(
      "--timeout <ms>",
      "the time limit in milliseconds (default: the one in the settings, else 60000)",
      wholeNumber,
    )
    .option("--continue <run>", "correct a failed run: what it has done is not done again")
    .option("--again <numbers...>", "calls of that run that may be made again", collectNumbers)
    .option("--reuse <numbers...>", "calls of that run that count as made", collectNumbers)
    .option("--yes", "approve each call that needs an approval, for scripts")
    .option("--trace", "show each call, and the time and memory of the run")
    .addHelpText("after", EXAMPLES)
    .action(
      act(async (session, file: string | undefined, flags: RunFlags) => {
        const {
          runtime,
          readyRuntime,
          signal,
          flags: { verbose },
          paint,
        } = session;
        const source = await readSource(file, flags, signal);
        const opened = await runtime(flags.yes && { approve: () => true });
        // With --verbose, wait until all problems are known.
        if (verbose) await readyRuntime();
        const pending: Approval[] = [];
        opened.on("approval", (approval) => !approval.isWaiting && pending.push(approval));
        const endLiveOutput = showLiveOutput(opened, session);
        const outcome = await opened
          .run(source, {
            signal,
            ...(flags.timeout && { limits: { wallMs: flags.timeout } }),
            ...(flags.continue !== undefined && { continue: flags.continue }),
            ...(flags.again && { again: flags.again }),
            ...(flags.reuse && { reuse: flags.reuse }),
          })
          .finally(endLiveOutput);
        const isLacking = outcome.kind === "refused" && lacksSkill(outcome.violations);
        return {
          exit: outcomeToExit(outcome),
          json: outcome,
          text: outcomeText(outcome),
          remarks: lines([outcomeRemarks(outcome, paint.err), pendingText(pending, paint.err)]),
          asides: lines([
            outcome.kind === "failed" ? skillStackText(outcome.error.cause, paint.err) : "",
            warningsText(selectProblems(opened, verbose || isLacking), paint.err),
            flags.trace ? traceText(outcome, paint.err) : "",
          ]),
        };
      }),
    );
}

const EXAMPLES = `
Examples:
  skillgate run -e 'device.TimeSkill.get_time("Asia/Tokyo")'
  skillgate run program.ts --timeout 5000 --trace
  cat program.ts | skillgate run - --json`;

function collectNumbers(text: string, numbers: readonly number[] = []): readonly number[] {
  return [...numbers, ...text.split(",").map((part) => wholeNumber(part.trim()))];
}
