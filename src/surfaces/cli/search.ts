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
    .option("--max-tokens <n>", "leave detail out beyond about so many tokens (400)", wholeNumber)
    .option("--explain", "show the scores, and what each word gave")
    .action(
      act(
        async (
          { readyRuntime, flags: { verbose }, paint },
          words: readonly string[],
          { limit, maxTokens, explain = false }: { limit?: number; maxTokens?: number; explain?: boolean },
        ) => {
          const runtime = await readyRuntime();
          const answer = runtime.search(words.join(" "), {
            explain,
            ...(limit !== undefined && { limit }),
            ...(maxTokens !== undefined && { maxTokens }),
          });
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
