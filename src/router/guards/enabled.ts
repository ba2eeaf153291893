import { SkillgateError } from "../../errors.ts";
import { getMethodFacts, type Guard } from "../call.ts";

/** Refuses calls of a skill that was disabled after the run received its catalog. */
export function enabled(isDisabled: (skill: string) => boolean): Guard {
  return (next) => (call) => {
    const { method } = call;
    if (!isDisabled(method.skill)) return next(call);
    throw new SkillgateError("SKILL_DISABLED", `Skill '${method.skill}' is disabled`, getMethodFacts(method));
  };
}
