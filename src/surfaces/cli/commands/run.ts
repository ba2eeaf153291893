import type { Command } from "commander";

import { KEPT_RESULT_BYTES } from "../../../model/kept-results.ts";
import { DEFAULT_LIMITS, type Limits } from "../../../model/limits.ts";
import type { CommandAction } from "../command-action.ts";
import type { CliSession } from "../session.ts";
import type { CommandResult } from "../terminal/terminal.ts";
import { UsageError } from "../usage-error.ts";
import { outcomeToExit } from "../exit-codes.ts";
import type { Approval } from "../../../approvals/index.ts";
import { pendingText } from "../text/approval-texts.ts";
import { lines } from "../text/layout.ts";
import { interruptionText, skillStackText, warningsText } from "../text/output.ts";
import { lacksSkill, selectProblems } from "../unknown-path.ts";
import { outcomeRemarks, outcomeText, traceText } from "../text/run-texts.ts";
import { readSource, type SnippetFlags, takesSnippet } from "../input/snippet-source.ts";
import { showLiveOutput } from "../terminal/live-output.ts";
import { wholeNumber } from "../input/whole-number.ts";

interface RunFlags extends SnippetFlags {
  readonly timeout?: number;
  readonly trace?: true;
  readonly watch?: true;
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
    .option("--watch", "run it again after each change of the file or of the skills")
    .addHelpText("after", EXAMPLES)
    .action(
      act(async (session, file: string | undefined, flags: RunFlags) => {
        if (flags.watch) return watchRun(session, file, flags);
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
            limits: { ...showWhole(opened.limits), ...(flags.timeout && { wallMs: flags.timeout }) },
            ...(flags.continue !== undefined && { continue: flags.continue }),
            ...(flags.again && { again: flags.again }),
            ...(flags.reuse && { reuse: flags.reuse }),
          })
          .finally(endLiveOutput);
        const isInterrupted = outcome.kind === "failed" && outcome.error.code === "CANCELLED" && signal.aborted;
        const isLacking = outcome.kind === "refused" && lacksSkill(outcome.violations);
        return {
          exit: outcomeToExit(outcome),
          json: outcome,
          text: outcomeText(outcome),
          remarks: isInterrupted
            ? interruptionText("interrupted", paint.err)
            : lines([outcomeRemarks(outcome, paint.err), pendingText(pending, paint.err)]),
          asides: lines([
            outcome.kind === "failed" ? skillStackText(outcome.error.cause, paint.err) : "",
            warningsText(selectProblems(opened, verbose || isLacking), paint.err),
            flags.trace ? traceText(outcome, paint.err) : "",
          ]),
        };
      }),
    );
}

async function watchRun(session: CliSession, file: string | undefined, flags: RunFlags): Promise<CommandResult> {
  const { repeatOnChange } = await import("../terminal/repeat-on-change.ts");
  if (flags.eval !== undefined) return repeatOnChange(session);
  if (file !== undefined && file !== "-") return repeatOnChange(session, file);
  throw new UsageError("Standard input can be read only once: with --watch, give a file, or -e with the code");
}

/** Without a limit in the settings, the whole result is printed: nothing could read a part of it after this process. */
function showWhole({ resultBytes }: Limits): Partial<Limits> {
  return resultBytes === DEFAULT_LIMITS.resultBytes ? { resultBytes: KEPT_RESULT_BYTES } : {};
}

const EXAMPLES = `
Examples:
  skillgate run -e 'device.TimeSkill.get_time("Asia/Tokyo")'
  skillgate run program.ts --timeout 5000 --trace
  cat program.ts | skillgate run - --json`;

function collectNumbers(text: string, numbers: readonly number[] = []): readonly number[] {
  return [...numbers, ...text.split(",").map((part) => wholeNumber(part.trim()))];
}
