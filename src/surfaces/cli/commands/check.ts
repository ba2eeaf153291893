import type { Command } from "commander";

import type { CommandAction } from "../command-action.ts";
import { warningsText } from "../text/output.ts";
import { lacksSkill, selectProblems } from "../unknown-path.ts";
import { noteLines, planText, violationsText } from "../text/run-texts.ts";
import { readSource, type ProgramFlags, takesProgram } from "../input/program-source.ts";

export function addCheck(program: Command, act: CommandAction): void {
  takesProgram(program.command("check"))
    .description("check a program without running it: list its errors, or the calls that it makes")
    .action(
      act(
        async (
          { runtime, readyRuntime, signal, flags: { verbose }, paint },
          file: string | undefined,
          flags: ProgramFlags,
        ) => {
          const source = await readSource(file, flags, signal);
          const opened = await (verbose ? readyRuntime() : runtime());
          if (lacksSkill(opened.check(source).violations)) await readyRuntime();
          const { violations, plan, notes } = opened.check(source);
          const isRefused = violations.length > 0;
          return {
            exit: isRefused ? "refused" : "ok",
            json: { violations, plan, notes },
            text: isRefused ? "" : planText(plan),
            remarks: isRefused ? violationsText(violations, paint.err) : noteLines(notes, paint.err),
            asides: warningsText(selectProblems(opened, verbose || lacksSkill(violations)), paint.err),
          };
        },
      ),
    );
}
