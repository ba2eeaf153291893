import type { Command } from "commander";

import { isRecord, type JsonSchema } from "../../../model/json.ts";
import type { ProvidedSkill } from "../../../model/skill.ts";
import type { Runtime } from "../../../runtime.ts";
import type { CommandAction } from "../command-action.ts";
import { lines, shownPath, table } from "../text/layout.ts";
import { warningsText } from "../text/output.ts";
import { UsageError } from "../usage-error.ts";
import { changeSettings } from "./change-settings.ts";
import { unknownSkill } from "./local-skills.ts";

/** Shown in place of a secret. */
const HIDDEN = "********";

export function addSkillsSettings(skills: Command, act: CommandAction): void {
  skills
    .command("settings")
    .description("show the settings of a skill, or change them in settings.yaml")
    .argument("<skill>", "its name")
    .argument("[changes...]", "key=value sets one, key= removes it; a value is parsed as JSON, else taken as text")
    .action(
      act(async ({ readyRuntime, folders, paint }, name: string, words: readonly string[]) => {
        const runtime = await readyRuntime();
        const skill = skillNamed(runtime, name);
        const { settingsFile } = await folders();
        const changes = await Promise.all(words.map((word) => parseChange(word, skill)));
        if (changes.length > 0) {
          await check(changes, skill, runtime.settingsOf(name)?.settings);
          await changeSettings(
            settingsFile,
            changes.map(({ key, value }) => ({ path: ["skills", name, key], value })),
          );
          return {
            exit: "ok",
            json: { skill: name, changed: changes.map(({ key }) => key), settings: settingsFile },
            text: `Changed the settings of ${name} in ${shownPath(settingsFile)}`,
          };
        }
        const { settings, secrets, problems } = runtime.settingsOf(name) ?? { settings: {}, secrets: {}, problems: [] };
        const visible = { ...settings, ...Object.fromEntries(Object.keys(secrets).map((key) => [key, HIDDEN])) };
        return {
          exit: "ok",
          json: { skill: name, settings: visible, schema: skill.settings ?? null, problems },
          text: settingsText(skill.settings, visible) || `${name} has no settings`,
          remarks: warningsText(problems, paint.err),
        };
      }),
    );
}

function skillNamed(runtime: Runtime, name: string): ProvidedSkill {
  return (
    runtime.catalog.skill(name)?.provided ??
    runtime.disabled().find((skill) => skill.name === name) ??
    unknownSkill(runtime, name)
  );
}

interface SettingChange {
  readonly key: string;
  /** `undefined` removes the setting. */
  readonly value: unknown;
}

async function parseChange(word: string, { name, settings = {} }: ProvidedSkill): Promise<SettingChange> {
  const [, key = "", text = ""] = /^([^=]+)=(.*)$/s.exec(word) ?? [];
  if (key === "") throw new UsageError(`Cannot read ${JSON.stringify(word)}: write key=value`);
  const { getSecretNames, getSecretVariable } = await import("../../../runtime/skill-settings.ts");
  if (getSecretNames(settings).includes(key) && text !== "" && !/^\$\{[^}]+\}$/.test(text)) {
    const variable = getSecretVariable(name, key);
    throw new UsageError(
      `Cannot write a secret into settings.yaml: put ${variable}=… into .env, or write ${key}='\${${variable}}'`,
    );
  }
  return { key, value: text === "" ? undefined : parseSettingValue(text) };
}

/** Throws if a changed setting is invalid; other settings may already be invalid or missing. */
async function check(
  changes: readonly SettingChange[],
  skill: ProvidedSkill,
  current: Readonly<Record<string, unknown>> = {},
): Promise<void> {
  const { findMistakes } = await import("../../../runtime/skill-settings.ts");
  // The value of a placeholder is not known here.
  const changed = changes.filter(({ value }) => value !== undefined && !isPlaceholder(value));
  const values = { ...current, ...Object.fromEntries(changed.map(({ key, value }) => [key, value])) };
  const mistakes = findMistakes(values, skill).filter(({ setting }) =>
    changed.some(({ key }) => setting === key || setting.startsWith(`${key}.`) || setting.startsWith(`${key}[`)),
  );
  if (mistakes.length === 0) return;
  throw new UsageError(`Cannot change the settings of ${skill.name}: ${mistakes.map(({ says }) => says).join("; ")}`);
}

function isPlaceholder(value: unknown): boolean {
  return typeof value === "string" && value.includes("${");
}

function parseSettingValue(text: string): unknown {
  try {
    return JSON.parse(text) as unknown;
  } catch {
    // Text needs no quotes.
    return text;
  }
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
