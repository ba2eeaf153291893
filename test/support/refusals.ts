import { defineSkill, type ProvidedSkill } from "../../src/index.ts";
import { ADD } from "./math-skill.ts";
import { createRemoteSkill } from "./remote-skill.ts";

const ID = { type: "object", properties: { id: { type: "number" } }, required: ["id"] };
const USER = {
  type: "object",
  properties: { name: { type: "string" }, email: { type: "string" } },
  required: ["name", "email"],
  additionalProperties: false,
};

/** The skills that the examples of `docs/errors.md` speak of. */
export const SAMPLE_SKILLS: readonly ProvidedSkill[] = [
  defineSkill({
    name: "MathSkill",
    description: "Computes",
    methods: {
      add: ADD,
    },
  }),
  defineSkill({
    name: "UserSkill",
    description: "Knows people",
    methods: {
      get: {
        description: "Get a user",
        input: ID,
        output: USER,
        run: async () => ({ name: "Ada", email: "ada@b.org" }),
      },
      remove: { description: "Remove a user", input: ID, run: async () => undefined },
    },
  }),
  createRemoteSkill("living_room_pc.MusicSkill"),
];
