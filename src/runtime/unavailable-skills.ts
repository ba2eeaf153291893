import { SkillgateError } from "../errors.ts";
import { type Caller, mayRead, mayReadAll } from "../model/caller.ts";
import type { ProvidedSkill } from "../model/skill.ts";
import { describeHeld, type HeldSkill } from "../model/provider.ts";
import { splitPath } from "../shared/names/method-paths.ts";
import type { RuntimeParts } from "./api/parts.ts";

/** A skill that exists and is not in the catalog. */
export interface UnavailableSkill extends Pick<HeldSkill, "name" | "methods"> {
  /** Why: it is disabled or held. */
  readonly error: SkillgateError;
}

/** Lists the disabled and the held skills of which a caller may read a method. */
export function listUnavailable(
  { disabled, held: heldSkills }: { readonly disabled: readonly ProvidedSkill[]; readonly held: readonly HeldSkill[] },
  caller: Caller,
): readonly UnavailableSkill[] {
  const all = [
    ...disabled.map(({ name, methods }) => ({ name, methods, error: createDisabledError(name) })),
    ...heldSkills.map(({ name, methods, why }) => ({
      name,
      methods,
      error: createHeldError(name, describeHeld(name, why)),
    })),
  ];
  return all.filter(
    ({ name, methods }) => mayReadAll(caller) || methods.some((method) => mayRead(caller, `${name}.${method.name}`)),
  );
}

/** Says why the catalog lacks a skill or a method: it is disabled, held or removed. `undefined` if the caller may not know that. */
export function whyUnavailable(
  path: string,
  caller: Caller,
  { sources, providers, trust }: Pick<RuntimeParts, "sources" | "providers" | "trust">,
): SkillgateError | undefined {
  const { skill, method } = splitPath(path);
  const missing = mayRead(caller, path) ? sources.findOffered(skill)?.whyMissing?.(method) : undefined;
  if (missing !== undefined) return new SkillgateError(missing.code, `${path} ${missing.why}`, { path });
  const found = listUnavailable(sources, caller).find(({ name }) => name === skill);
  if (found !== undefined || !mayReadAll(caller)) return found?.error;
  const server = providers.servers.find((each) => each.skill === skill);
  const why = server && trust.findHeldServer(server.name);
  return why === undefined ? undefined : createHeldError(skill, why);
}

function createDisabledError(skill: string): SkillgateError {
  return new SkillgateError("SKILL_DISABLED", `Skill '${skill}' is disabled`, { skill });
}

function createHeldError(skill: string, why: string): SkillgateError {
  return new SkillgateError("SKILL_HELD", why, { skill });
}
