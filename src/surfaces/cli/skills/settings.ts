import { addAbortSignal } from "node:stream";

import { isRecord, type JsonSchema, parseJson } from "../../../model/json.ts";
import type { ProvidedSkill } from "../../../model/skill.ts";
import type { Runtime } from "../../../runtime.ts";
import type { SettingChange } from "../../../runtime/change-skill-settings.ts";
import type { CliCommand } from "../command.ts";
import { editSettings } from "../settings/edit-settings.ts";
import { readText } from "../input/read-text.ts";
import { lines, shownPath, table } from "../text/layout.ts";
import { warningsText } from "../text/output.ts";
import { UsageError } from "../usage-error.ts";
import { unknownSkill } from "./local-skills.ts";

/** Shown in place of a secret. */
const HIDDEN = "********";

export function addSkillsSettings(skills: CliCommand): void {
  skills
    .command("settings")
    .description("show the settings of a skill, or change them in settings.yaml, and its secrets in .env")
    .argument("<skill>", "its name")
    .argument(
      "[changes...]",
      "key=value sets one, key= removes it; a value is parsed as JSON, else taken as text; key=- reads a secret from standard input",
    )
    .run(async ({ openRuntime, folders, paint, signal }, name: string, words: readonly string[]) => {
      const runtime = await openRuntime({ until: "known" });
      const skill = skillNamed(runtime, name);
      if (words.length > 0) {
        const { planSettingsChange } = await import("../../../runtime/change-skill-settings.ts");
        const changes = await readChanges(words, await getSecrets(skill), signal);
        const { settings: current } = runtime.settingsOf(name) ?? {};
        const plan = planSettingsChange(skill, changes, { current, env: process.env });
        const settingsFile = await editSettings({ folders }, plan);
        const files = [
          ...(plan.variables.length < changes.length ? [shownPath(settingsFile)] : []),
          ...(plan.variables.length > 0 ? [".env"] : []),
        ];
        return {
          json: { skill: name, changed: changes.map(({ key }) => key), settings: settingsFile },
          text: `Changed the settings of ${name} in ${files.join(" and ")}`,
        };
      }
      const { settings, secrets, problems } = runtime.settingsOf(name) ?? { settings: {}, secrets: {}, problems: [] };
      const visible = { ...settings, ...Object.fromEntries(Object.keys(secrets).map((key) => [key, HIDDEN])) };
      return {
        json: { skill: name, settings: visible, schema: skill.settings ?? null, problems },
        text: settingsText(skill.settings, visible) || `${name} has no settings`,
        remarks: warningsText(problems, paint.err),
      };
    });
}

function skillNamed(runtime: Runtime, name: string): ProvidedSkill {
  return (
    runtime.catalog.skill(name)?.provided ??
    runtime.disabled().find((skill) => skill.name === name) ??
    unknownSkill(runtime, name)
  );
}

/** Names of the settings that are secret. */
async function getSecrets({ settings = {} }: ProvidedSkill): Promise<readonly string[]> {
  const { getSecretNames } = await import("../../../runtime/skill-settings.ts");
  return getSecretNames(settings);
}

/** Parses the changes; a secret is always text. */
async function readChanges(
  words: readonly string[],
  secretNames: readonly string[],
  signal: AbortSignal,
): Promise<readonly SettingChange[]> {
  const changes: SettingChange[] = [];
  for (const word of words) {
    const [, key = "", text = ""] = /^([^=]+)=(.*)$/s.exec(word) ?? [];
    if (key === "") throw new UsageError(`Cannot read ${JSON.stringify(word)}: write key=value`);
    const value = secretNames.includes(key) ? await readSecret(key, text, signal) : parseSettingValue(text);
    changes.push({ key, value: text === "" ? undefined : value });
  }
  return changes;
}

/** A secret on the command line is visible to other programs; `-` reads it from standard input. */
async function readSecret(key: string, text: string, signal: AbortSignal): Promise<string> {
  if (text !== "-") return text;
  const { askSecret, isAtTerminal } = await import("../terminal/ask.ts");
  const input = isAtTerminal()
    ? await askSecret(`${key}: `, signal)
    : await readText(addAbortSignal(signal, process.stdin), "standard input");
  const secret = input.replace(/\r?\n$/, "");
  if (secret === "") throw new UsageError(`Standard input has no value for ${key}; write ${key}= to remove it`);
  return secret;
}

/** Text needs no quotes. */
function parseSettingValue(text: string): unknown {
  const value = parseJson(text);
  return value === undefined ? text : value;
}

/** One line for each setting that is declared or set; empty if there are none. */
export function settingsText(schema: JsonSchema | undefined, values: Readonly<Record<string, unknown>>): string {
  const declared = isRecord(schema?.["properties"]) ? schema["properties"] : {};
  const keys = [...new Set([...Object.keys(declared), ...Object.keys(values)])];
  const rows = keys.map((key) => {
    const about = declared[key];
    const description = isRecord(about) && typeof about["description"] === "string" ? about["description"] : "";
    return [key, key in values ? JSON.stringify(values[key]) : "(not set)", description];
  });
  return lines(table(rows));
}

/** Adds `enable` and `disable`. They write settings.yaml, so every surface follows them. */
export function addSkillsSwitches(skills: CliCommand): void {
  addSwitch(skills, "enable", "enable a disabled skill");
  addSwitch(skills, "disable", "disable a skill in settings.yaml");
}

function addSwitch(skills: CliCommand, name: "enable" | "disable", description: string): void {
  const enabled = name === "enable";
  skills
    .command(name)
    .description(description)
    .argument("<skill>", "its name")
    .run(async ({ openRuntime, folders }, skill: string) => {
      await requireSkill(await openRuntime({ until: "known" }), skill);
      // A skill without this setting is enabled.
      const settingsFile = await editSettings(
        { folders },
        {
          values: [{ path: ["skills", skill, "enabled"], value: enabled ? undefined : false }],
        },
      );
      return {
        json: { skill, enabled, settings: settingsFile },
        text: `${skill} is ${name}d, in ${shownPath(settingsFile)}`,
      };
    });
}

/** Throws if the skill does not exist; a disabled skill, or one that did not start, exists, and so does that of any server. */
async function requireSkill(runtime: Runtime, name: string): Promise<void> {
  if (runtime.catalog.skill(name) !== undefined || runtime.disabled().some((skill) => skill.name === name)) return;
  if (runtime.servers.some(({ skill }) => skill === name)) return;
  const unstarted = await runtime.health();
  if (!unstarted.some(({ skill }) => skill === name)) unknownSkill(runtime, name);
}
