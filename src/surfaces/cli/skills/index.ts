import type { Command } from "commander";

import type { CommandAction } from "../command-action.ts";
import { addSkillsCheck } from "./check.ts";
import { addSkillsHealth } from "./health.ts";
import { addSkillsList } from "./list.ts";
import { addSkillsNew } from "./new.ts";
import { addSkillsSave } from "./save.ts";
import { addSkillsSettings } from "./settings.ts";
import { addSkillsShow } from "./show.ts";
import { addSkillsStats } from "./stats.ts";
import { addSkillsSwitches } from "./switches.ts";
import { addSkillsTest } from "./test.ts";

/** The commands about skills, in the order in which an author needs them. */
export function addSkills(skills: Command, act: CommandAction): void {
  const all = [
    addSkillsList,
    addSkillsNew,
    addSkillsSave,
    addSkillsCheck,
    addSkillsTest,
    addSkillsShow,
    addSkillsSettings,
    addSkillsSwitches,
    addSkillsHealth,
    addSkillsStats,
  ];
  for (const add of all) add(skills, act);
}
