import { ERRORS } from "../../../errors.ts";
import type { Skill } from "../../../model/catalog.ts";
import type { Problem } from "../../../model/provider.ts";
import type { Runtime } from "../../../runtime.ts";
import { toFileStem } from "../../../shared/names/file-stem.ts";
import { createUnknownNameError } from "../../../shared/suggest.ts";
import { throwIfServerMissing } from "../unknown-path.ts";
import { UsageError } from "../usage-error.ts";

/** The file skills with these names, or all of them. Throws `SKILL_UNKNOWN` for an unknown name. */
export function localSkills(runtime: Runtime, names: readonly string[]): readonly Skill[] {
  const local = runtime.catalog.skills.filter(({ kind }) => kind === "file");
  if (names.length === 0) return local;
  return names.map((name) => local.find((skill) => skill.name === name) ?? unknownSkill(runtime, name));
}

/** Throws the reason why the skill is missing: disabled, server missing or failed, or unknown name. */
export function unknownSkill(runtime: Runtime, name: string): never {
  throwIfServerMissing(runtime, name);
  const names = runtime.catalog.skills.map((skill) => skill.name);
  throw createUnknownNameError("SKILL_UNKNOWN", name, names, { skill: name });
}

/** Finds the files in the skills folder that do not load as a skill. */
export function findFailures(runtime: Runtime): readonly Problem[] {
  const { problems, catalog } = runtime;
  const isThere = new Set([...catalog.skills, ...runtime.disabled()].map(({ source }) => source));
  return problems.filter(({ source, error }) => error.startsWith(ERRORS.SKILL_INVALID.says) && !isThere.has(source));
}

/** Returns the name of a skill's file without its ending. Throws for a text that cannot name a skill. */
export function requireFileStem(name: string): string {
  const stem = toFileStem(name);
  if (stem !== undefined) return stem;
  throw new UsageError(`Cannot name a skill ${JSON.stringify(name)}: use one or a few words, such as home-office`);
}
