import type { Skill } from "../../../model/catalog.ts";
import type { ProvidedSkill } from "../../../model/skill.ts";
import type { Runtime } from "../../../runtime.ts";
import { splitPath } from "../../../shared/names/method-paths.ts";
import type { CliCommand, CommandResult } from "../command.ts";
import type { Paint } from "../terminal/terminal.ts";
import { indented, lines, milliseconds, table } from "../text/layout.ts";
import { unknownSkill } from "./local-skills.ts";
import { settingsText } from "./settings.ts";

export function addSkillsShow(skills: CliCommand): void {
  skills
    .command("show")
    .description("show the details of a skill: methods, guidance, settings, health, statistics")
    .argument("<skill>", "its name")
    .run(async ({ openRuntime, paint }, name: string) => {
      const runtime = await openRuntime({ until: "shown" });
      const disabled = runtime.disabled().find((each) => each.name === name);
      if (disabled !== undefined) return disabledAnswer(disabled, paint.out);
      const skill = runtime.catalog.skill(name) ?? unknownSkill(runtime, name);
      const facts = await collectFacts(runtime, skill);
      return { json: facts, text: factsText(skill, facts, paint.out) };
    });
}

/** The result for a disabled skill. It is not in the catalog, so only its own declaration is known. */
function disabledAnswer({ name, description, source, kind, methods }: ProvidedSkill, paint: Paint): CommandResult {
  const names = methods.map((method) => method.name);
  return {
    json: { name, description, source, kind, disabled: true, methods: names },
    text: lines([
      `${paint.cyan(name)}  ${source}  disabled; enable it with: skillgate skills enable ${name}`,
      description,
      `Methods: ${names.join(", ")}`,
    ]),
  };
}

type SkillFacts = Awaited<ReturnType<typeof collectFacts>>;

async function collectFacts(runtime: Runtime, skill: Skill) {
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

type StatisticsByMethod = Awaited<ReturnType<Runtime["lastingStatistics"]>>;

export function addSkillsStats(skills: CliCommand): void {
  skills
    .command("stats")
    .description("show the call statistics of methods in this project")
    .argument("[skills...]", "names of skills (default: all)")
    .run(async ({ openRuntime, paint }, names: readonly string[]) => {
      const all = await (await openRuntime()).lastingStatistics();
      const selected = [...all].filter(([path]) => names.length === 0 || names.includes(splitPath(path).skill));
      return {
        json: { methods: Object.fromEntries(selected) },
        text: statisticsText(new Map(selected), paint.out) || "No calls recorded yet",
      };
    });
}

/** One line for each method; empty if there are none. */
export function statisticsText(statistics: StatisticsByMethod, paint: Paint): string {
  if (statistics.size === 0) return "";
  const head = ["method", "calls", "failed", "average", "p95", "last used"].map((word) => paint.dim(word));
  const rows = [...statistics].map(([path, { total, failed, averageMs, p95Ms, lastUsed }]) => [
    path,
    String(total),
    failed === 0 ? "0" : paint.red(String(failed)),
    milliseconds(averageMs),
    milliseconds(p95Ms),
    new Date(lastUsed).toISOString().replace(/\.\d+/, ""),
  ]);
  return lines(table([head, ...rows]));
}
