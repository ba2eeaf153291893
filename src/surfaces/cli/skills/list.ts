import type { Command } from "commander";

import type { Skill } from "../../../model/catalog.ts";
import type { CommandAction } from "../command-action.ts";
import { findFailures } from "./local-skills.ts";
import { lines } from "../text/layout.ts";
import { skillsText, warningsText } from "../text/output.ts";

export function addSkillsList(skills: Command, act: CommandAction): void {
  skills
    .command("list")
    .description("list all skills, including those of MCP servers")
    .action(
      act(async ({ shownRuntime, paint }) => {
        const runtime = await shownRuntime();
        const { catalog, problems } = runtime;
        const disabled = runtime.disabled().map(({ name, source }) => ({ name, source }));
        return {
          exit: findFailures(runtime).length === 0 ? "ok" : "failed",
          json: { skills: catalog.skills.map(listed), disabled, problems },
          text: lines([
            skillsText(catalog.skills, paint.out),
            ...disabled.map(({ name, source }) => paint.out.dim(`${name}  ${source}  disabled`)),
          ]),
          remarks: warningsText(problems, paint.err),
        };
      }),
    );
}

/** The public facts of a skill, for `--json`. */
function listed({ name, description, kind, source, server, methods, provided }: Skill): Record<string, unknown> {
  const facts = provided.saved;
  const saved = facts && { run: facts.run, passes: facts.getPasses(), requiredPasses: facts.requiredPasses };
  return { name, description, kind, source, server, methods: methods.map((method) => method.name), saved };
}
