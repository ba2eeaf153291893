import { defineSkill, type ProvidedSkill } from "../../src/index.ts";
import { whyOperationMissing } from "../../src/providers/sources/operation-changes.ts";
import { ADD } from "./math-skill.ts";
import { createRemoteSkill } from "./remote-skill.ts";

const ID = { type: "object", properties: { id: { type: "number" } }, required: ["id"] };
const USER = {
  type: "object",
  properties: { name: { type: "string" }, email: { type: "string" } },
  required: ["name", "email"],
  additionalProperties: false,
};

/** Operations of a document that has changed. */
const MISSING = new Map(
  (["changed", "removed"] as const).map((kind) => {
    const name = kind === "changed" ? "orders_pay" : "orders_export";
    return [name, whyOperationMissing({ name, kind, differences: ["a.amount: number → string"] }, "shop")];
  }),
);

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
  {
    ...defineSkill({
      name: "ShopAPI",
      description: "Sells",
      methods: { orders_list: { description: "List the orders", run: async () => [] } },
    }),
    whyMissing: (name) => MISSING.get(name),
  },
];
