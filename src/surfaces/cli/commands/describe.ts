import type { Command } from "commander";

import type { CommandAction } from "../command-action.ts";
import { throwUnknown } from "../unknown-path.ts";

export function addDescribe(program: Command, act: CommandAction): void {
  program
    .command("describe")
    .description("show a method with its types and an example, or a skill with its methods")
    .argument("<paths...>", "Skill.method, Skill, or a pattern such as Skill.read_*")
    .action(
      act(async ({ shownRuntime }, paths: readonly string[]) => {
        const runtime = await shownRuntime();
        for (const path of paths) throwUnknown(runtime, path);
        const description = runtime.describe(paths.join(" "));
        return { exit: "ok", json: description, text: description.text };
      }),
    );
}
