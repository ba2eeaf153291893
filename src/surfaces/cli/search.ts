import type { Command } from "commander";

import type { Act } from "./act.ts";
import { warningsText } from "./output.ts";
import { wholeNumber } from "./whole-number.ts";

export function addSearch(program: Command, act: Act): void {
  program
    .command("search")
    .description("find methods by words; without words, list them")
    .argument("[words...]", "what the method should do, or its name")
    .option("--limit <n>", "show at most so many (8)", wholeNumber)
    .action(
      act(
        async (
          { readyRuntime, flags: { verbose }, paint },
          words: readonly string[],
          { limit }: { limit?: number },
        ) => {
          const runtime = await readyRuntime();
          const answer = runtime.search(words.join(" "), limit === undefined ? {} : { limit });
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
