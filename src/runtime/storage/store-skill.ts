import type { JsonSchema } from "../../model/json.ts";
import type { Provider } from "../../model/provider.ts";
import type { MethodDefinition, ProvidedSkill } from "../../model/skill.ts";
import { KEY_CHARACTERS, type ProgramStore } from "./program-store.ts";

const KEY: JsonSchema = { type: "string", minLength: 1, maxLength: KEY_CHARACTERS };

const METHODS: readonly MethodDefinition[] = [
  {
    name: "get",
    description: "Return the value that an earlier run stored under a key; undefined for an unknown key.",
    input: { type: "object", properties: { key: KEY }, required: ["key"], additionalProperties: false },
    metadata: { readOnly: true },
  },
  {
    name: "set",
    description: "Store a JSON value under a key for later runs of the same automation and the same caller.",
    input: {
      type: "object",
      properties: { key: KEY, value: { description: "any JSON value" } },
      required: ["key", "value"],
      additionalProperties: false,
    },
    isPositional: true,
    metadata: { idempotent: true },
  },
  {
    name: "list",
    description: "List the keys that begin with a prefix, sorted; all keys without one.",
    input: {
      type: "object",
      properties: { prefix: { type: "string", maxLength: KEY_CHARACTERS } },
      additionalProperties: false,
    },
    output: { type: "array", items: { type: "string" } },
    metadata: { readOnly: true },
  },
  {
    name: "delete",
    description: "Delete a key and its value. Returns true if the key existed.",
    input: { type: "object", properties: { key: KEY }, required: ["key"], additionalProperties: false },
    output: { type: "boolean" },
    metadata: { idempotent: true },
  },
];

/** Creates the skill `store`: `device.store.get(key)`, `set(key, value)`, `list(prefix?)`, `delete(key)`. */
function createStoreSkill(store: ProgramStore): ProvidedSkill {
  return Object.freeze<ProvidedSkill>({
    name: "store",
    description: "Stores JSON values from one run to the next",
    source: "Skillgate",
    kind: "code",
    isUnlisted: true,
    methods: METHODS,
    async invoke({ name }, { key, value, prefix }, context) {
      if (name === "list") return store.list(typeof prefix === "string" ? prefix : "", context);
      // The schema says that it is a text.
      const checked = String(key);
      if (name === "get") return store.get(checked, context);
      return name === "set" ? store.set(checked, value, context) : store.delete(checked, context);
    },
  });
}

/** Provides the skills of Skillgate itself. */
export function createOwnSkills(store: ProgramStore): Provider {
  return { skills: [createStoreSkill(store)], problems: [], onChange: () => {}, close: async () => {} };
}
