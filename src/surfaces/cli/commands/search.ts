import type { Command } from "commander";

import type { CommandAction } from "../command-action.ts";
import { warningsText } from "../text/output.ts";
import { wholeNumber, wholeNumberOrZero } from "../input/whole-number.ts";

export function addSearch(program: Command, act: CommandAction): void {
  program
    .command("search")
    .description("find methods by words; without words, list them")
    .argument("[words...]", "what the method should do, or its name")
    .option("--limit <n>", "maximum number of results (default: 8)", wholeNumber)
    .option("--offset <n>", "number of results to skip (default: 0)", wholeNumberOrZero)
    .option(
      "--max-tokens <n>",
      "approximate size of the answer in tokens; detail beyond it is omitted (default: 700)",
      wholeNumber,
    )
    .addHelpText("after", EXAMPLES)
    .option("--explain", "show the scores, and what each word adds to them")
    .action(
      act(
        async (
          { shownRuntime, flags: { verbose }, paint },
          words: readonly string[],
          { explain = false, ...numbers }: { limit?: number; offset?: number; maxTokens?: number; explain?: boolean },
        ) => {
          const runtime = await shownRuntime();
          const answer = runtime.search(words.join(" "), { explain, ...numbers, readMs: Infinity });
          return {
            exit: "ok",
            json: answer,
            text: answer.text,
            asides: warningsText(verbose ? runtime.problems : [], paint.err),
          };
        },
      ),
    );
}

const EXAMPLES = `
Examples:
  skillgate search read a file
  skillgate search "roll dice" --limit 3 --json`;
