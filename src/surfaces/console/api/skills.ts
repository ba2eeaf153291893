import { isRecord } from "../../../model/json.ts";
import type { ProvidedSkill } from "../../../model/skill.ts";
import type { RuntimeView } from "../../../runtime/api/view.ts";
import { planSettingsChange } from "../../../runtime/change-skill-settings.ts";
import { getSecretNames, getSecretVariable, type ResolvedSettings } from "../../../runtime/skill-settings.ts";
import { truncateText } from "../../../shared/format-text.ts";
import { createQueue } from "../../../shared/threads/queue.ts";
import { createUnknownNameError } from "../../../shared/suggest.ts";
import { changeSettingsFile } from "../config-files.ts";
import { type Endpoints, readEnabled } from "../endpoints.ts";
import type { SkillDetail, SkillSummary } from "../messages.ts";
import { invalidRequest } from "../problem.ts";
import type { ConsoleServices } from "../services.ts";

/** The list of skills, their settings, and the switch of each. */
export function createSkillEndpoints({ config }: ConsoleServices): Endpoints {
  const inTurn = createQueue();
  return {
    "GET /skills": ({ view }) => ({ skills: listSkills(view) }),
    "GET /skills/:name": ({ view, getPart }) => describeSkill(view, getPart("name")),
    "POST /skills/:name/enabled": async ({ view, getPart, readBody }) => {
      const { enable, disable } = view.admin("ManageServers");
      const { name } = findSkill(view, getPart("name"));
      const enabled = readEnabled(await readBody());
      // A skill without this setting is enabled.
      const values = [{ path: ["skills", name, "enabled"], value: enabled ? undefined : false }];
      // The runtime has what the file says, in whatever order two requests are answered.
      await inTurn(async () => {
        if (config !== undefined) await changeSettingsFile(config, view, { values });
        if (enabled) enable(name);
        else disable(name);
      });
    },
    "PATCH /skills/:name/settings": async ({ view, getPart, readBody }) => {
      const { reloadSettings, settingsOf } = view.admin("ManageServers");
      const skill = findSkill(view, getPart("name"));
      const { values } = await readBody();
      if (!isRecord(values)) throw invalidRequest("values must be an object; null removes a setting");
      const changes = Object.entries(values).map(([key, value]) => ({ key, value: value ?? undefined }));
      const current = settingsOf(skill.name)?.settings;
      const env = config?.options.env ?? process.env;
      await changeSettingsFile(config, view, planSettingsChange(skill, changes, { current, env }));
      await reloadSettings();
    },
  };
}

/** The skills of the catalog, and for administrators the disabled ones, without those of MCP servers. */
function listSkills(view: RuntimeView): readonly SkillSummary[] {
  const enabled = view.catalog.skills.filter(({ kind }) => kind !== "mcp");
  const disabled = listDisabled(view).filter(({ kind }) => kind !== "mcp");
  return [
    ...enabled.map((skill) => summarize(skill.provided, { methods: skill.methods.length, enabled: true })),
    ...disabled.map((skill) => summarize(skill, { methods: skill.methods.length, enabled: false })),
  ].toSorted((a, b) => (a.name < b.name ? -1 : 1));
}

function listDisabled(view: RuntimeView): readonly ProvidedSkill[] {
  return view.may("Read") ? view.admin("Read").disabled() : [];
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

function describeSkill(view: RuntimeView, name: string): SkillDetail {
  const skill = findSkill(view, name);
  const resolved = view.may("Read") ? view.admin("Read").settingsOf(name) : undefined;
  const catalogSkill = view.catalog.skill(name);
  return {
    ...summarize(skill, { methods: skill.methods.length, enabled: catalogSkill !== undefined }),
    methodPaths: (catalogSkill?.methods ?? []).map(({ path }) => path),
    settings: view.may("Read") ? describeSettings(skill, resolved) : [],
    problems: (resolved?.problems ?? []).map(({ error }) => error),
  };
}

/** Lists the settings that the schema declares and those that are set, without the values of secrets. */
function describeSettings(skill: ProvidedSkill, resolved: ResolvedSettings | undefined): SkillDetail["settings"] {
  const { name } = skill;
  const schema: Readonly<Record<string, unknown>> = skill.settings ?? {};
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

function findSkill(view: RuntimeView, name: string): ProvidedSkill {
  const { skills } = view.catalog;
  const found = [...skills.map(({ provided }) => provided), ...listDisabled(view)].find((skill) => skill.name === name);
  if (found !== undefined) return found;
  const names = skills.map((skill) => skill.name);
  throw createUnknownNameError("SKILL_UNKNOWN", name, names, { skill: name });
}
