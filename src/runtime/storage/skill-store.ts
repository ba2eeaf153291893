import { createError, type SkillgateError } from "../../errors.ts";
import { findSizeExcess } from "../../shared/values/value-size.ts";
import type { SkillStore } from "../../model/skill.ts";
import type { Store } from "../../store/index.ts";

const KEY_CHARACTERS = 512;
const VALUE_CHARACTERS = 256 << 10;
/** Limit on everything that one skill stores. */
const ALL_CHARACTERS = 16 << 20;

/** The part of the runtime's store that belongs to one skill (L3): no skill reaches that of another. */
export function createSkillStore(store: Store, skill: string): SkillStore {
  const space = store.space(`skill ${skill}`);
  return {
    get: async (key) => space.get(parseKey(key)),
    set: async (key, value) => {
      const [name, characters] = [parseKey(key), measureValue(key, value)];
      await space.change((content) => {
        if (content.size + characters > ALL_CHARACTERS)
          throw refused(`it is full: a skill may keep ${ALL_CHARACTERS} characters`);
        content.put(name, value);
      });
    },
    delete: async (key) => space.delete(parseKey(key)),
    entries: async (prefix) => space.entries(prefix),
  };
}

/** A skill in plain JavaScript may pass anything. */
function parseKey(key: unknown): string {
  if (typeof key === "string" && key !== "" && key.length <= KEY_CHARACTERS) return key;
  throw refused(`a key must be text of 1 to ${KEY_CHARACTERS} characters`);
}

/** Returns the characters of a value as JSON. */
function measureValue(key: string, value: unknown): number {
  const excess = findSizeExcess(value);
  if (excess !== undefined) throw refused(`the value of "${key}" has ${excess}`);
  const text: unknown = JSON.stringify(value);
  if (typeof text !== "string") throw refused(`the value of "${key}" is no JSON; use delete to take it away`);
  if (text.length > VALUE_CHARACTERS) {
    throw refused(`the value of "${key}" has ${text.length} characters, at most ${VALUE_CHARACTERS} are kept`);
  }
  return text.length;
}

function refused(why: string): SkillgateError {
  return createError("CALL_FAILED", `the store of the skill: ${why}`);
}
