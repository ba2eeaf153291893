import type { Command } from "commander";

import type { CommandAction } from "../command-action.ts";
import { wholeNumber } from "../input/whole-number.ts";
import { UsageError } from "../usage-error.ts";

export interface TryFlags {
  readonly jsonl?: true;
  readonly timeout?: number;
}

export function addTry(program: Command, act: CommandAction): void {
  program
    .command("try")
    .description("write programs as a model does: each runs at once, and the skills and servers stay open")
    .option("--jsonl", "read commands as lines of JSON, and answer each with a line")
    .option("--timeout <ms>", "the time limit of each program in milliseconds", wholeNumber)
    .addHelpText("after", HELP)
    .action(
      act(async (session, flags: TryFlags) => {
        if (session.flags.json)
          throw new UsageError("try has no single result to print with --json; use --jsonl for lines of JSON");
        if (flags.jsonl) {
          const { answerCommands } = await import("./answer-commands.ts");
          await answerCommands(session, flags);
          return { exit: "ok", json: null, text: "" };
        }
        const { runRepl } = await import("./repl.ts");
        return { exit: await runRepl(session, flags), json: null, text: "", isWarned: true };
      }),
    );
}

const HELP = `
Type .help for the commands. From a pipe, an empty line or a line ;; separates programs.

Examples:
  skillgate try
  skillgate try < programs.js
  echo '{"command":"get_skills"}' | skillgate try --jsonl`;
