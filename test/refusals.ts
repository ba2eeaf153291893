import { defineSkill, type ProvidedSkill } from "../src/index.ts";

const NUMBERS = { type: "object", properties: { a: { type: "number" }, b: { type: "number" } }, required: ["a", "b"] };
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
      add: { description: "Add two numbers", input: NUMBERS, run: async ({ a, b }) => Number(a) + Number(b) },
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
];
