import { SkillgateError } from "../errors.ts";
import { type Caller, mayRead } from "../model/caller.ts";
import type { ProvidedSkill } from "../model/skill.ts";

/** Returns the disabled skills that a caller may see. */
export function findDisabledSkills(disabled: readonly ProvidedSkill[], caller: Caller): readonly ProvidedSkill[] {
  return disabled.filter(({ name, methods }) => methods.some((method) => mayRead(caller, `${name}.${method.name}`)));
}

export function skillDisabledError(skill: string): SkillgateError {
  return new SkillgateError("SKILL_DISABLED", `Skill '${skill}' is disabled`, { skill });
}
