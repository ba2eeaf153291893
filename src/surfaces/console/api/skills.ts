import { type Caller, mayAdminister } from "../../../model/caller.ts";
import { isRecord } from "../../../model/json.ts";
import type { ProvidedSkill } from "../../../model/skill.ts";
import type { Runtime } from "../../../runtime.ts";
import { planSettingsChange } from "../../../runtime/change-skill-settings.ts";
import { getSecretNames, getSecretVariable } from "../../../runtime/skill-settings.ts";
import { truncateText } from "../../../shared/format-text.ts";
import { createUnknownNameError } from "../../../shared/suggest.ts";
import { changeSettingsFile } from "../config-files.ts";
import { type Endpoints, forAdmin, readEnabled } from "../endpoints.ts";
import type { SkillDetail, SkillSummary } from "../messages.ts";
import { invalidRequest } from "../problem.ts";
import type { ConsoleServices } from "../services.ts";

/** The list of skills, their settings, and the switch of each. */
export function createSkillEndpoints({ runtime, config }: ConsoleServices): Endpoints {
  return {
    "GET /skills": ({ caller }) => ({ skills: listSkills(runtime, caller) }),
    "GET /skills/:name": ({ caller, getPart }) => describeSkill(runtime, caller, getPart("name")),
    "POST /skills/:name/enabled": forAdmin("write", async ({ caller, getPart, readBody }) => {
      const { name } = findSkill(runtime, caller, getPart("name"));
      const enabled = readEnabled(await readBody());
      // A skill without this setting is enabled.
      const values = [{ path: ["skills", name, "enabled"], value: enabled ? undefined : false }];
      if (config !== undefined) await changeSettingsFile(config, { values });
      if (enabled) runtime.enable(name);
      else runtime.disable(name);
    }),
    "PATCH /skills/:name/settings": forAdmin("write", async ({ caller, getPart, readBody }) => {
      const skill = findSkill(runtime, caller, getPart("name"));
      const { values } = await readBody();
      if (!isRecord(values)) throw invalidRequest("values must be an object; null removes a setting");
      const changes = Object.entries(values).map(([key, value]) => ({ key, value: value ?? undefined }));
      const current = runtime.settingsOf(skill.name)?.settings;
      const env = config?.options.env ?? process.env;
      await changeSettingsFile(config, planSettingsChange(skill, changes, { current, env }));
      await runtime.reloadSettings();
    }),
  };
}

/** The skills of the catalog, and for administrators the disabled ones, without those of MCP servers. */
function listSkills(runtime: Runtime, caller: Caller): readonly SkillSummary[] {
  const enabled = runtime.catalogFor(caller).skills.filter(({ kind }) => kind !== "mcp");
  const disabled = mayAdminister(caller, "read") ? runtime.disabled().filter(({ kind }) => kind !== "mcp") : [];
  return [
    ...enabled.map((skill) => summarize(skill.provided, { methods: skill.methods.length, enabled: true })),
    ...disabled.map((skill) => summarize(skill, { methods: skill.methods.length, enabled: false })),
  ].toSorted((a, b) => (a.name < b.name ? -1 : 1));
}

function summarize(
  { name, description, settings }: ProvidedSkill,
  facts: Pick<SkillSummary, "methods" | "enabled">,
): SkillSummary {
  return {
    name,
    description: truncateText(description, MAX_TEXT_UNITS),
    hasSettings: settings !== undefined,
    ...facts,
  };
}

/** UTF-16 units of a description in lists. */
const MAX_TEXT_UNITS = 300;

function describeSkill(runtime: Runtime, caller: Caller, name: string): SkillDetail {
  const skill = findSkill(runtime, caller, name);
  const isAdmin = mayAdminister(caller, "read");
  const enabled = runtime.catalogFor(caller).skill(name) !== undefined;
  return {
    ...summarize(skill, { methods: skill.methods.length, enabled }),
    methodPaths: (runtime.catalogFor(caller).skill(name)?.methods ?? []).map(({ path }) => path),
    settings: isAdmin ? describeSettings(runtime, skill) : [],
    problems: isAdmin ? (runtime.settingsOf(name)?.problems ?? []).map(({ error }) => error) : [],
  };
}

/** Lists the settings that the schema declares and those that are set, without the values of secrets. */
function describeSettings(runtime: Runtime, skill: ProvidedSkill): SkillDetail["settings"] {
  const { name } = skill;
  const schema: Readonly<Record<string, unknown>> = skill.settings ?? {};
  const resolved = runtime.settingsOf(name);
  const settings: Readonly<Record<string, unknown>> = resolved?.settings ?? {};
  const secrets = resolved?.secrets ?? {};
  const { properties, required: names } = schema;
  const declared: Readonly<Record<string, unknown>> = isRecord(properties) ? properties : {};
  const required: readonly unknown[] = Array.isArray(names) ? names : [];
  const secretNames = getSecretNames(schema);
  const keys = new Set([...Object.keys(declared), ...Object.keys(settings)]);
  return [...keys].map((key) => {
    const about = declared[key];
    const isSecret = secretNames.includes(key);
    return {
      key,
      schema: isRecord(about) ? about : {},
      isRequired: required.includes(key),
      isSecret,
      variable: isSecret ? getSecretVariable(name, key) : null,
      isSet: Object.hasOwn(isSecret ? secrets : settings, key),
      value: isSecret ? null : (settings[key] ?? null),
    };
  });
}

function findSkill(runtime: Runtime, caller: Caller, name: string): ProvidedSkill {
  const { skills } = runtime.catalogFor(caller);
  const disabled = mayAdminister(caller, "read") ? runtime.disabled() : [];
  const found = [...skills.map(({ provided }) => provided), ...disabled].find((skill) => skill.name === name);
  if (found !== undefined) return found;
  const names = skills.map((skill) => skill.name);
  throw createUnknownNameError("SKILL_UNKNOWN", name, names, { skill: name });
}
