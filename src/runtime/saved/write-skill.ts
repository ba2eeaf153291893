import { existsSync } from "node:fs";
import { join, relative } from "node:path";

import { changeByHand, changeFile, type ConfigOptions } from "../../config/index.ts";
import { createError, type SkillgateError } from "../../errors.ts";
import { moduleToSkillName } from "../../providers/skills/index.ts";
import type { Runtime } from "../../runtime.ts";
import type { SkillTexts } from "./index.ts";
import type { SaveOptions } from "./save-run.ts";

/** A saved skill to write; its files and its name begin with `stem`. */
export interface SkillToWrite extends Omit<SaveOptions, "name" | "cassetteFile"> {
  readonly stem: string;
  /** The folder of skills. Absolute. */
  readonly folder: string;
  /** The project, which stays trusted. */
  readonly project: ConfigOptions;
  /** True if the saved skill of the same name may be replaced. */
  readonly mayReplace: boolean;
  /** How to allow that, as in `write --force`. */
  readonly howToReplace: string;
}

/** A saved skill whose files were written. */
export interface WrittenSkill extends Pick<SkillTexts, "parameters" | "example"> {
  readonly name: string;
  /** The skill and its cassette. Absolute. */
  readonly files: readonly [string, string];
}

/**
 * Makes a saved skill of a run, and writes its two files on behalf of the owner. Throws as `savedSkills.save` does, and
 * `OPTION_INVALID` for a name that is taken.
 */
export async function writeSavedSkill(
  runtime: Pick<Runtime, "catalog" | "disabled" | "savedSkills">,
  run: string,
  skill: SkillToWrite,
): Promise<WrittenSkill> {
  const { stem, folder, project, ...options } = skill;
  const cassetteFile = `${stem}.cassette.json`;
  const files = [join(folder, `${stem}.saved.yaml`), join(folder, cassetteFile)] as const;
  const name = moduleToSkillName(stem);
  requireFree(runtime, name, files[0], skill);
  const saved = await runtime.savedSkills.save(run, { ...options, name, cassetteFile });
  const texts = [saved.skillText, saved.cassetteText];
  await changeByHand(project, { files }, async () => {
    for (const [at, file] of files.entries())
      await changeFile(file, { label: relative(project.cwd, file), isPrivate: false }, (before) => {
        if (at === 0 && before !== undefined) requireFree(runtime, name, file, skill); // it was written meanwhile
        return texts[at];
      });
  });
  return { name, files, parameters: saved.parameters, example: saved.example };
}

function requireFree(
  runtime: Pick<Runtime, "catalog" | "disabled">,
  name: string,
  file: string,
  { folder, project, mayReplace, howToReplace }: SkillToWrite,
): void {
  const skill = runtime.catalog.skill(name) ?? runtime.disabled().find((each) => each.name === name);
  const source = skill?.source ?? "";
  if (skill !== undefined && join(folder, source) !== file)
    throw refuseName(`the name ${name} is taken by ${source}; choose another name`);
  if (mayReplace || !existsSync(file)) return;
  throw refuseName(`${relative(project.cwd, file)} already exists; ${howToReplace} to replace it`);
}

const refuseName = (why: string): SkillgateError => createError("OPTION_INVALID", why);
