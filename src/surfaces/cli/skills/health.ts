import type { Command } from "commander";

import type { CommandAction } from "../command-action.ts";
import { lines, table } from "../text/layout.ts";
import { unknownSkill } from "./local-skills.ts";

export function addSkillsHealth(skills: Command, act: CommandAction): void {
  skills
    .command("health")
    .description("check the health of skills and servers")
    .argument("[skills...]", "names of skills (default: all)")
    .action(
      act(async ({ readyRuntime, paint }, names: readonly string[]) => {
        const runtime = await readyRuntime();
        const all = await runtime.health();
        const selected = names.length === 0 ? all : all.filter(({ skill }) => names.includes(skill));
        for (const name of names) if (!selected.some(({ skill }) => skill === name)) unknownSkill(runtime, name);
        const rows = selected.map(({ skill, source, healthy, message }) => [
          `${healthy ? paint.out.green("✓") : paint.out.red("✗")} ${skill}`,
          source,
          message,
        ]);
        return {
          exit: selected.every(({ healthy }) => healthy) ? "ok" : "failed",
          json: { skills: selected },
          text: lines(table(rows)) || "No skills found",
        };
      }),
    );
}
