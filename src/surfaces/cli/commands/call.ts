import type { Command } from "commander";

import type { CommandAction } from "../command-action.ts";
import { readInput } from "../input/call-input.ts";
import { performOperation } from "../operations/perform.ts";
import { NO_SOCKET, type OperationFlags } from "../socket/client.ts";

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
    .option(...NO_SOCKET)
    .addHelpText("after", EXAMPLES)
    .action(
      act(async (session, path: string, words: readonly string[], flags: OperationFlags) => {
        const input = await readInput(words, session.signal);
        return performOperation({ kind: "call", path, input }, flags, session);
      }),
    );
}

const EXAMPLES = `
Examples:
  skillgate call CalculatorSkill.calculate "expression=2 + 3"
  skillgate call MemorySkill.remember text=@note.txt
  skillgate call DiceSkill.roll_dice '{"notation": "2d6"}' --json`;
