import type { SkillStore } from "../model/skill.ts";

/** A store that keeps nothing. */
export const EMPTY_STORE: SkillStore = Object.freeze({
  get: async () => undefined,
  set: async () => undefined,
  delete: async () => false,
  entries: async () => [],
});
