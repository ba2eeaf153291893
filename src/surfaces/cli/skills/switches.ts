import type { Command } from "commander";

import type { Runtime } from "../../../runtime.ts";
import type { CommandAction } from "../command-action.ts";
import { shownPath } from "../text/layout.ts";
import { changeSettings } from "./change-settings.ts";
import { unknownSkill } from "./local-skills.ts";

/** Adds `enable` and `disable`. They write settings.yaml, so every surface follows them. */
export function addSkillsSwitches(skills: Command, act: CommandAction): void {
  addSwitch(skills, act, { name: "enable", description: "enable a disabled skill", enabled: true });
  addSwitch(skills, act, { name: "disable", description: "disable a skill in settings.yaml", enabled: false });
}

interface SkillSwitch {
  readonly name: string;
  readonly description: string;
  readonly enabled: boolean;
}

function addSwitch(skills: Command, act: CommandAction, { name, description, enabled }: SkillSwitch): void {
  skills
    .command(name)
    .description(description)
    .argument("<skill>", "its name")
    .action(
      act(async ({ readyRuntime, folders }, skill: string) => {
        await requireSkill(await readyRuntime(), skill);
        const { settingsFile } = await folders();
        // A skill without this setting is enabled.
        await changeSettings(settingsFile, {
          values: [{ path: ["skills", skill, "enabled"], value: enabled ? undefined : false }],
        });
        return {
          exit: "ok",
          json: { skill, enabled, settings: settingsFile },
          text: `${skill} is ${name}d, in ${shownPath(settingsFile)}`,
        };
      }),
    );
}

/** Throws if the skill does not exist; a disabled skill, or one that did not start, exists. */
async function requireSkill(runtime: Runtime, name: string): Promise<void> {
  if (runtime.catalog.skill(name) !== undefined || runtime.disabled().some((skill) => skill.name === name)) return;
  const unstarted = await runtime.health();
  if (!unstarted.some(({ skill }) => skill === name)) unknownSkill(runtime, name);
}
