import type { Command } from "commander";

import type { Act } from "./act.ts";
import { blameServer } from "./problems.ts";

export function addTypes(program: Command, act: Act): void {
  program
    .command("types")
    .description("print TypeScript declarations of skills, for editors and models")
    .argument("[skills...]", "their names; all by default")
    .action(
      act(async ({ readyRuntime }, skills: readonly string[]) => {
        const runtime = await readyRuntime();
        for (const skill of skills) blameServer(runtime, skill);
        const declarations = runtime.declarations(skills.length === 0 ? undefined : skills);
        return { exit: "ok", json: { declarations }, text: declarations };
      }),
    );
}
