import type { Command } from "commander";

import type { CommandAction } from "../command-action.ts";
import { readSource, type ProgramFlags, takesProgram } from "../input/program-source.ts";
import { wholeNumber } from "../input/whole-number.ts";
import type { RunOperation } from "../operations/operation.ts";
import { performOperation } from "../operations/perform.ts";
import type { CliSession } from "../session.ts";
import { NO_SOCKET, type OperationFlags } from "../socket/client.ts";
import type { CommandResult } from "../terminal/terminal.ts";
import { UsageError } from "../usage-error.ts";

interface RunFlags extends ProgramFlags, OperationFlags {
  readonly timeout?: number;
  readonly trace?: true;
  readonly watch?: true;
  readonly continue?: string;
  readonly again?: readonly number[];
  readonly reuse?: readonly number[];
}

export function addRun(program: Command, act: CommandAction): void {
  takesProgram(program.command("run"))
    .description("run a program")
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
    .option(...NO_SOCKET)
    .addHelpText("after", EXAMPLES)
    .action(
      act(async (session, file: string | undefined, flags: RunFlags) => {
        if (flags.watch) return watchRun(session, file, flags);
        const source = await readSource(file, flags, session.signal);
        return performOperation({ kind: "run", source, ...toOptions(flags) }, flags, session);
      }),
    );
}

async function watchRun(session: CliSession, file: string | undefined, flags: RunFlags): Promise<CommandResult> {
  const { repeatOnChange } = await import("../terminal/repeat-on-change.ts");
  if (flags.eval !== undefined) return repeatOnChange(session);
  if (file !== undefined && file !== "-") return repeatOnChange(session, file);
  throw new UsageError("Standard input can be read only once: with --watch, give a file, or -e with the code");
}

function toOptions({ timeout, trace, continue: run, again, reuse }: RunFlags): Omit<RunOperation, "kind" | "source"> {
  return {
    ...(timeout && { timeoutMs: timeout }),
    ...(trace && { hasTrace: trace }),
    ...(run !== undefined && { continue: run }),
    ...(again && { again }),
    ...(reuse && { reuse }),
  };
}

const EXAMPLES = `
Examples:
  skillgate run -e 'device.TimeSkill.get_time("Asia/Tokyo")'
  skillgate run program.ts --timeout 5000 --trace
  cat program.ts | skillgate run - --json`;

function collectNumbers(text: string, numbers: readonly number[] = []): readonly number[] {
  return [...numbers, ...text.split(",").map((part) => wholeNumber(part.trim()))];
}
