import type { CliCommand } from "../command.ts";
import { wholeNumber } from "../input/option-values.ts";
import { UsageError } from "../usage-error.ts";

export interface TryFlags {
  readonly jsonl?: true;
  readonly timeout?: number;
}

export function addTry(program: CliCommand): void {
  program
    .command("try")
    .description("write programs as a model does: each runs at once, and the skills and servers stay open")
    .option("--jsonl", "read commands as lines of JSON, and answer each with a line")
    .option("--timeout <ms>", "the time limit of each program in milliseconds", wholeNumber)
    .addHelpText("after", HELP)
    .run(async (session, flags: TryFlags) => {
      if (session.flags.json)
        throw new UsageError("try has no single result to print with --json; use --jsonl for lines of JSON");
      if (flags.jsonl) {
        const { answerCommands } = await import("./answer-commands.ts");
        await answerCommands(session, flags);
        return { json: null, text: "" };
      }
      const { runRepl } = await import("./repl.ts");
      return { exit: await runRepl(session, flags), json: null, text: "", isWarned: true };
    });
}

const HELP = `
Type .help for the commands. From a pipe, an empty line or a line ;; separates programs.

Examples:
  skillgate try
  skillgate try < programs.js
  echo '{"command":"get_skills"}' | skillgate try --jsonl`;
