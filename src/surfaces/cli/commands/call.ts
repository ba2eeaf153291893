import type { Command } from "commander";

import type { Method } from "../../../model/catalog.ts";
import { type AnswerFacts, shownFacts } from "../../../model/run-observer.ts";
import type { Runtime } from "../../../runtime.ts";
import type { CommandAction } from "../command-action.ts";
import { readInput } from "../input/call-input.ts";
import { showLiveOutput } from "../terminal/live-output.ts";
import { valueText } from "../text/output.ts";
import { throwUnknown } from "../unknown-path.ts";
import { noteLines } from "../text/run-texts.ts";
import { UsageError } from "../usage-error.ts";

export function addCall(program: Command, act: CommandAction): void {
  program
    .command("call")
    .description("call one method")
    .argument("<path>", "Skill.method")
    .argument(
      "[arguments...]",
      "key=value, key=@file, or one JSON object; a value is parsed as JSON, else taken as text",
    )
    .option("--yes", "approve the call if it needs an approval, for scripts")
    .addHelpText("after", EXAMPLES)
    .action(
      act(async (session, path: string, words: readonly string[], { yes }: { readonly yes?: true }) => {
        const { runtime, readyRuntime, signal, paint } = session;
        const opened = await runtime(yes && { approve: () => true });
        if (opened.catalog.method(path) === undefined) await readyRuntime();
        const method = methodAt(opened, path);
        const input = await readInput(words, method.parameters, signal);
        let facts: AnswerFacts = { cached: false, notes: [] };
        const endLiveOutput = showLiveOutput(opened, session);
        const value = await opened
          .call(method.path, input, { signal, observer: { answered: (answer) => void (facts = answer) } })
          .finally(endLiveOutput);
        return {
          exit: "ok",
          json: { path: method.path, value: value ?? null, ...shownFacts(facts) },
          text: valueText(value),
          asides: noteLines(facts.notes, paint.err),
        };
      }),
    );
}

const EXAMPLES = `
Examples:
  skillgate call CalculatorSkill.calculate "expression=2 + 3"
  skillgate call MemorySkill.remember text=@note.txt
  skillgate call DiceSkill.roll_dice '{"notation": "2d6"}' --json`;

function methodAt(runtime: Runtime, path: string): Method {
  throwUnknown(runtime, path);
  const method = runtime.catalog.method(runtime.describe(path).path);
  if (method === undefined)
    throw new UsageError(`Cannot call ${JSON.stringify(path)}: name one method, as in Skill.method`);
  return method;
}
