import type { Command } from "commander";

import { isRecord, type JsonSchema } from "../../../model/json.ts";
import type { ProvidedSkill } from "../../../model/skill.ts";
import type { Runtime } from "../../../runtime.ts";
import type { SettingChange } from "../../../runtime/skill-settings.ts";
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
        const changes = words.map(parseChange);
        if (changes.length > 0) {
          const { requireValidChanges } = await import("../../../runtime/skill-settings.ts");
          requireValidChanges(changes, skill, runtime.settingsOf(name)?.settings);
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

function parseChange(word: string): SettingChange {
  const [, key = "", text = ""] = /^([^=]+)=(.*)$/s.exec(word) ?? [];
  if (key === "") throw new UsageError(`Cannot read ${JSON.stringify(word)}: write key=value`);
  return { key, value: text === "" ? undefined : parseSettingValue(text) };
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
