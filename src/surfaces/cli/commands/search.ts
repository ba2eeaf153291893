import type { Command } from "commander";

import type { CommandAction } from "../command-action.ts";
import { warningsText } from "../text/output.ts";
import { wholeNumber, wholeNumberOrZero } from "../input/whole-number.ts";

export function addSearch(program: Command, act: CommandAction): void {
  program
    .command("search")
    .description("find methods by words; without words, list them")
    .argument("[words...]", "what the method should do, or its name")
    .option("--limit <n>", "show at most so many (8)", wholeNumber)
    .option("--offset <n>", "leave out the first so many (0)", wholeNumberOrZero)
    .option("--max-tokens <n>", "leave detail out beyond about so many tokens (400)", wholeNumber)
    .option("--explain", "show the scores, and what each word gave")
    .action(
      act(
        async (
          { readyRuntime, flags: { verbose }, paint },
          words: readonly string[],
          { explain = false, ...numbers }: { limit?: number; offset?: number; maxTokens?: number; explain?: boolean },
        ) => {
          const runtime = await readyRuntime();
          const answer = runtime.search(words.join(" "), { explain, ...numbers });
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
