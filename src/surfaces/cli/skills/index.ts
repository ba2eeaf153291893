import type { Skill } from "../../../model/catalog.ts";
import { describeHeld } from "../../../model/provider.ts";
import type { CliCommand } from "../command.ts";
import { lines, table } from "../text/layout.ts";
import { skillsText, warningsText } from "../text/output.ts";
import { addSkillsAdd, addSkillsRemove, addSkillsUpdate } from "./added/index.ts";
import { addSkillsPack } from "./added/pack.ts";
import { addSkillsCheck } from "./check.ts";
import { findFailures, unknownSkill } from "./local-skills.ts";
import { addSkillsNew } from "./new.ts";
import { addSkillsSave } from "./save.ts";
import { addSkillsSettings, addSkillsSwitches } from "./settings.ts";
import { addSkillsShow, addSkillsStats } from "./show.ts";
import { addSkillsTest } from "./test.ts";

/** The commands about skills, in the order in which an author needs them. */
export function addSkills(skills: CliCommand): void {
  const all = [
    addSkillsList,
    addSkillsNew,
    addSkillsSave,
    addSkillsCheck,
    addSkillsTest,
    addSkillsAdd,
    addSkillsUpdate,
    addSkillsRemove,
    addSkillsPack,
    addSkillsShow,
    addSkillsSettings,
    addSkillsSwitches,
    addSkillsHealth,
    addSkillsStats,
  ];
  for (const add of all) add(skills);
}

export function addSkillsList(skills: CliCommand): void {
  skills
    .command("list")
    .description("list all skills, including those of MCP servers")
    .run(async ({ openRuntime, paint }) => {
      const runtime = await openRuntime({ until: "shown" });
      const { catalog, problems } = runtime;
      const disabled = runtime.disabled().map(({ name, source }) => ({ name, source }));
      const heldSkills = runtime.listHeldSkills().map(({ name, source, why }) => ({ name, source, why }));
      const isEmpty = catalog.skills.length === 0 && heldSkills.length > 0;
      return {
        exit: findFailures(runtime).length > 0 ? "failed" : isEmpty ? "unreachable" : "ok",
        json: { skills: catalog.skills.map(listed), disabled, held: heldSkills, problems },
        text: lines([
          isEmpty ? "" : skillsText(catalog.skills, paint.out),
          ...heldSkills.map(
            ({ name, source, why }) => `${paint.out.yellow(name)}  ${source}  ${describeHeld("it", why)}`,
          ),
          ...disabled.map(({ name, source }) => paint.out.dim(`${name}  ${source}  disabled`)),
        ]),
        remarks: warningsText(problems, paint.err),
      };
    });
}

/** The public facts of a skill, for `--json`. */
function listed({ name, description, kind, source, server, methods, provided }: Skill): Record<string, unknown> {
  const facts = provided.saved;
  const saved = facts && { run: facts.run, passes: facts.getPasses(), requiredPasses: facts.requiredPasses };
  return { name, description, kind, source, server, methods: methods.map((method) => method.name), saved };
}

export function addSkillsHealth(skills: CliCommand): void {
  skills
    .command("health")
    .description("check the health of skills and servers")
    .argument("[skills...]", "names of skills (default: all)")
    .run(async ({ openRuntime, paint }, names: readonly string[]) => {
      const runtime = await openRuntime({ until: "ready" });
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
    });
}
