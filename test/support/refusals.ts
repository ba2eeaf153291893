import { defineSkill, type ProvidedSkill } from "../../src/index.ts";
import { createQueryChecker } from "../../src/providers/sources/graphql/check/index.ts";
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
    return [name, whyOperationMissing({ kind }, "shop")];
  }),
);

/** Its thread does not keep the process alive. */
const TRACKER = createQueryChecker({
  name: "tracker",
  read: () => "type Query { issue(id: ID!): Issue }\ntype Issue { id: ID! title: String! }",
});

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
  {
    name: "TrackerGraph",
    description: "Tracks issues",
    source: "sample",
    kind: "api",
    methods: [
      {
        name: "query",
        description: "Reads from the tracker",
        input: { type: "object", properties: { query: { type: "string" } }, required: ["query"] },
        metadata: { readOnly: true },
        queryText: {
          argument: "query",
          variables: "variables",
          async check(text, variables) {
            const { problems, fields } = await TRACKER.check("query", text, variables);
            return { problems, parts: fields.map((field) => `query:${field}`) };
          },
        },
      },
    ],
    invoke: async () => null,
  },
];
