import { SkillgateError } from "../../../errors.ts";
import type { Skill } from "../../../model/catalog.ts";
import { suggestNames } from "../../../shared/suggest.ts";
import type { Runtime } from "../../../runtime.ts";
import { throwIfServerMissing } from "../unknown-path.ts";

/** The skills of files that are meant: those of these names, or all. A name that is none is `SKILL_UNKNOWN`. */
export function localSkills(runtime: Runtime, names: readonly string[]): readonly Skill[] {
  const local = runtime.catalog.skills.filter(({ kind }) => kind === "file");
  if (names.length === 0) return local;
  return names.map((name) => local.find((skill) => skill.name === name) ?? unknownSkill(runtime, name));
}

/** Throws why there is no such skill: switched off, without its server, did not start, or not known at all. */
export function unknownSkill(runtime: Runtime, name: string): never {
  throwIfServerMissing(runtime, name);
  const suggestions = suggestNames(
    name,
    runtime.catalog.skills.map((skill) => skill.name),
  );
  const meant = suggestions.length === 0 ? "" : `; did you mean ${suggestions.join(" or ")}?`;
  throw new SkillgateError("SKILL_UNKNOWN", `Skill '${name}' not found${meant}`, { skill: name, suggestions });
}
