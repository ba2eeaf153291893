import type { Command } from "commander";

import type { Act } from "./act.ts";
import { requireKnown } from "./problems.ts";

export function addDescribe(program: Command, act: Act): void {
  program
    .command("describe")
    .description("show a method with its types and an example, or a skill with its methods")
    .argument("<paths...>", "Skill.method, Skill, or a pattern such as Skill.read_*")
    .action(
      act(async ({ readyRuntime }, paths: readonly string[]) => {
        const runtime = await readyRuntime();
        for (const path of paths) requireKnown(runtime, path);
        const description = runtime.describe(paths.join(" "));
        return { exit: "ok", json: description, text: description.text };
      }),
    );
}
