import type { Command } from "commander";

import type { Skill } from "../../../model/catalog.ts";
import type { ProvidedSkill } from "../../../model/skill.ts";
import type { Runtime } from "../../../runtime.ts";
import type { CommandAction } from "../command-action.ts";
import { indented, lines } from "../text/layout.ts";
import type { CommandResult, Paint } from "../terminal/terminal.ts";
import { unknownSkill } from "./local-skills.ts";
import { settingsText } from "./settings.ts";
import { statisticsText } from "./stats.ts";

export function addSkillsShow(skills: Command, act: CommandAction): void {
  skills
    .command("show")
    .description("show the details of a skill: methods, guidance, settings, health, statistics")
    .argument("<skill>", "its name")
    .action(
      act(async ({ shownRuntime, paint }, name: string) => {
        const runtime = await shownRuntime();
        const disabled = runtime.disabled().find((each) => each.name === name);
        if (disabled !== undefined) return disabledAnswer(disabled, paint.out);
        const skill = runtime.catalog.skill(name) ?? unknownSkill(runtime, name);
        const facts = await collectFacts(runtime, skill);
        return { exit: "ok", json: facts, text: factsText(skill, facts, paint.out) };
      }),
    );
}

/** The result for a disabled skill. It is not in the catalog, so only its own declaration is known. */
function disabledAnswer({ name, description, source, kind, methods }: ProvidedSkill, paint: Paint): CommandResult {
  const names = methods.map((method) => method.name);
  return {
    exit: "ok",
    json: { name, description, source, kind, disabled: true, methods: names },
    text: lines([
      `${paint.cyan(name)}  ${source}  disabled; enable it with: skillgate skills enable ${name}`,
      description,
      `Methods: ${names.join(", ")}`,
    ]),
  };
}

interface SkillFacts {
  readonly name: string;
  readonly description: string;
  readonly source: string;
  readonly kind: Skill["kind"];
  readonly health: { readonly healthy: boolean; readonly message: string };
  readonly methods: readonly { readonly path: string; readonly declaration: string }[];
  readonly guidance: string;
  readonly settings: Readonly<Record<string, unknown>>;
  readonly secrets: readonly string[];
  readonly statistics: Awaited<ReturnType<Runtime["lastingStatistics"]>>;
}

async function collectFacts(runtime: Runtime, skill: Skill): Promise<SkillFacts> {
  const { name, description, source, kind, methods, guidance = "" } = skill;
  const [all, statistics] = await Promise.all([runtime.health(), runtime.lastingStatistics()]);
  const { healthy, message } = all.find((each) => each.skill === name) ?? { healthy: true, message: "ok" };
  const { settings, secrets } = runtime.settingsOf(name) ?? { settings: {}, secrets: {} };
  return {
    name,
    description,
    source,
    kind,
    health: { healthy, message },
    methods: methods.map(({ path, declaration }) => ({ path, declaration })),
    guidance,
    settings,
    secrets: Object.keys(secrets),
    statistics: new Map([...statistics].filter(([path]) => path.startsWith(`${name}.`))),
  };
}

function factsText(skill: Skill, facts: SkillFacts, paint: Paint): string {
  const { name, source, description, health, methods, guidance, settings, secrets, statistics } = facts;
  const mark = health.healthy ? paint.green("✓") : paint.red("✗");
  const hidden = Object.fromEntries(secrets.map((key) => [key, "********"]));
  return lines([
    `${paint.cyan(name)}  ${source}`,
    description,
    `${mark} ${health.message}`,
    ...methods.map(({ declaration }) => `\n${declaration}`),
    section("Guidance", guidance, paint),
    section("Settings", settingsText(skill.provided.settings, { ...settings, ...hidden }), paint),
    section("Calls", statisticsText(statistics, paint), paint),
  ]);
}

function section(title: string, text: string, paint: Paint): string {
  return text === "" ? "" : `\n${paint.dim(title)}\n${indented(text)}`;
}
