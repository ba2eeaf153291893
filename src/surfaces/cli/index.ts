import { CommanderError } from "commander";

import type { Problem } from "../../model/provider.ts";
import type { CommandAction } from "./command.ts";
import { createErrorResult, createInterruptedResult } from "./error-answer.ts";
import type { Exit } from "./exit-codes.ts";
import { createProgram } from "./program.ts";
import { type CommonFlags, openSession } from "./session.ts";
import { type Interruption, listenForInterruption } from "./terminal/interruption.ts";
import { openTerminal, type Terminal } from "./terminal/terminal.ts";
import { interruptionText } from "./text/output.ts";
import { endOnUncaught, guardWarnings } from "./uncaught.ts";
import { withWarnings } from "./unknown-path.ts";

/** Runs one command, reports a failure in a sentence, and ends the process with the exit code. */
export async function runCommandLine(args: readonly string[]): Promise<never> {
  const terminal = openCommandTerminal(args);
  endOnUncaught(terminal);
  guardWarnings((line) => terminal.write("err", `${line}\n`));
  const interruption = listenForInterruption();
  return terminal.exit(await runCommand(args, terminal, interruption));
}

/** Opens the terminal in the form that the command asks for. */
export function openCommandTerminal(args: readonly string[]): Terminal {
  return openTerminal({ json: hasFlag("--json", args), debug: hasFlag("--debug", args) });
}

/** Runs one command in this process. Returns the exit of the signal that ended the command, else that of its result. */
export async function runCommand(
  args: readonly string[],
  terminal: Terminal,
  interruption: Interruption,
): Promise<Exit> {
  let exit: Exit = "ok";
  let isDrained = false;
  let problems: readonly Problem[] = [];
  const act: CommandAction =
    (command) =>
    async (...words) => {
      await using session = openSession(program.opts<CommonFlags>(), terminal, interruption);
      const answer = await command(session, ...words).catch((thrown: unknown) => {
        problems = session.problems();
        throw thrown;
      });
      const remarks = answer.isInterrupted && interruptionText(interruption.exit ?? "interrupted", terminal.paint.err);
      const finished = remarks === undefined ? answer : { ...answer, remarks };
      terminal.show(withWarnings(finished, session.problems(), terminal.paint.err));
      exit = answer.exit ?? "ok";
      isDrained = answer.isDrained === true;
    };
  const program = createProgram(act);
  try {
    await program.parseAsync(args, { from: "user" });
  } catch (thrown) {
    if (thrown instanceof CommanderError && thrown.exitCode === 0) return interruption.exit ?? "ok"; // help or version was printed
    const answer =
      interruption.exit === undefined
        ? createErrorResult(thrown, terminal)
        : createInterruptedResult(interruption.exit, terminal);
    terminal.show(withWarnings(answer, problems, terminal.paint.err));
    exit = answer.exit ?? "failed";
  }
  if (isDrained && interruption.exit === "terminated") return exit;
  return interruption.exit ?? exit;
}

/** Reads a flag before commander parses the line, because the form of a parse error depends on it. */
function hasFlag(flag: string, args: readonly string[]): boolean {
  const end = args.indexOf("--");
  return (end < 0 ? args : args.slice(0, end)).includes(flag);
}
