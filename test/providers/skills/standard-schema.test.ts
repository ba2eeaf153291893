import { type } from "arktype";
import * as v from "valibot";
import { describe, expect, test } from "vitest";
import { z } from "zod";

import { defineSkill } from "../../../src/authoring/define-skill.ts";
import { call, loadFiles, findMethod } from "./call.ts";

/** The same parameters in the words of three libraries. */
const zodTrip = z.object({
  city: z.string().min(2).describe("Where to"),
  days: z.number().int().max(7).default(3),
  unit: z.enum(["c", "f"]),
  tags: z.array(z.string()).optional(),
});
const valibotTrip = v.object({
  city: v.pipe(v.string(), v.minLength(2), v.description("Where to")),
  days: v.optional(v.pipe(v.number(), v.integer(), v.maxValue(7)), 3),
  unit: v.picklist(["c", "f"]),
  tags: v.optional(v.array(v.string())),
});
const arktypeTrip = type({
  city: type("string >= 2").describe("Where to"),
  days: "number.integer <= 7 = 3",
  unit: "'c' | 'f'",
  "tags?": "string[]",
});

const PROPERTIES = {
  city: { type: "string", minLength: 2 },
  days: { type: "integer", maximum: 7, default: 3 },
  unit: { enum: ["c", "f"] },
  tags: { type: "array", items: { type: "string" } },
};

describe.each([
  ["zod", zodTrip, { description: "Where to" }],
  ["valibot", valibotTrip, { description: "Where to" }],
  ["arktype", arktypeTrip, {}],
])("T4, L2: a schema of %s", (_library, input, described) => {
  const skill = defineSkill({
    name: "TripSkill",
    description: "",
    methods: { book: { description: "Books", input, run: (trip) => trip } },
  });

  test("becomes JSON Schema, constraints and defaults included", () => {
    const { properties, required } = skill.methods[0]?.input ?? {};
    expect(properties).toMatchObject({ ...PROPERTIES, city: { ...PROPERTIES.city, ...described } });
    expect(new Set(required as string[])).toEqual(new Set(["city", "unit"]));
  });

  test("checks and completes the input of each call", async () => {
    await expect(call({ skills: [skill] }, "TripSkill.book", { city: "Rome", unit: "c" })).resolves.toEqual({
      city: "Rome",
      days: 3,
      unit: "c",
    });
    await expect(call({ skills: [skill] }, "TripSkill.book", { city: "R", unit: "k" })).rejects.toMatchObject({
      code: "ARGUMENTS_INVALID",
      message: expect.stringMatching(/TripSkill\.book: .*"city".*"unit"/),
    });
  });
});

test.each<[name: string, schema: v.GenericSchema, json: unknown]>([
  ["literal", v.literal("x"), { const: "x" }],
  ["enum", v.enum({ Up: "up", Down: "down" }), { enum: ["up", "down"] }],
  ["null", v.null(), { type: "null" }],
  ["boolean", v.boolean(), { type: "boolean" }],
  ["any", v.any(), {}],
  ["date", v.date(), {}],
  ["union", v.union([v.string(), v.number()]), { anyOf: [{ type: "string" }, { type: "number" }] }],
  ["nullable", v.nullable(v.string(), "a"), { anyOf: [{ type: "string" }, { type: "null" }], default: "a" }],
  ["record", v.record(v.string(), v.number()), { type: "object", additionalProperties: { type: "number" } }],
  ["tuple", v.tuple([v.string()]), { type: "array", prefixItems: [{ type: "string" }], minItems: 1, maxItems: 1 }],
  [
    "array",
    v.pipe(v.array(v.number()), v.nonEmpty(), v.maxLength(3)),
    { type: "array", items: { type: "number" }, minItems: 1, maxItems: 3 },
  ],
  [
    "text",
    v.pipe(v.string(), v.regex(/^a/), v.length(3)),
    { type: "string", pattern: "^a", minLength: 3, maxLength: 3 },
  ],
  ["a pattern with flags", v.pipe(v.string(), v.regex(/^a/i)), { type: "string" }],
  ["format", v.pipe(v.string(), v.email(), v.title("Mail")), { type: "string", format: "email", title: "Mail" }],
  [
    "range",
    v.pipe(v.number(), v.gtValue(0), v.ltValue(1), v.multipleOf(0.1)),
    { type: "number", exclusiveMinimum: 0, exclusiveMaximum: 1, multipleOf: 0.1 },
  ],
  ["a step that converts", v.pipe(v.string(), v.transform(Number), v.number()), { type: "string" }],
])("T4: valibot's %s", (_name, field, json) => {
  const skill = defineSkill({
    name: "OneSkill",
    description: "",
    methods: { one: { description: "", input: v.object({ field }), run: () => 1 } },
  });
  expect(skill.methods[0]?.input).toEqual({
    type: "object",
    properties: { field: json },
    required: ["field"],
    additionalProperties: false,
  });
});

test("T4: converts a recursive valibot schema", () => {
  interface Tree {
    readonly children: Tree[];
  }
  const tree: v.GenericSchema<Tree> = v.object({ children: v.array(v.lazy(() => tree)) });
  const skill = defineSkill({
    name: "TreeSkill",
    description: "",
    methods: { grow: { description: "", input: tree, run: () => 1 } },
  });
  expect(skill.methods[0]?.input).toMatchObject({ properties: { children: { type: "array", items: {} } } });
});

test("L2: a skill file may use any of the three, from where its packages are", async () => {
  const fields = {
    zod: "z.object({ n: z.number() })",
    valibot: "v.object({ n: v.number() })",
    arktype: "type({ n: 'number' })",
  };
  const provider = await loadFiles({
    "../package.json": "{}",
    "../node_modules/zod": `->${process.cwd()}/node_modules/zod`,
    "../node_modules/valibot": `->${process.cwd()}/node_modules/valibot`,
    "../node_modules/arktype": `->${process.cwd()}/node_modules/arktype`,
    ...Object.fromEntries(
      Object.entries(fields).map(([library, input]) => [
        `${library}.ts`,
        `import { defineSkill } from "skillgate";
         import { z } from "zod"; import * as v from "valibot"; import { type } from "arktype";
         export default defineSkill({ name: "${library}Skill", description: "", methods: {
           half: { description: "Half", input: ${input}, run: ({ n }) => n / 2 } } });`,
      ]),
    ),
  });
  expect(provider.problems).toEqual([]);
  for (const library of Object.keys(fields)) {
    const { input } = findMethod(provider, `${library}Skill.half`);
    expect(input).toMatchObject({ type: "object", properties: { n: { type: "number" } }, required: ["n"] });
    await expect(call(provider, `${library}Skill.half`, { n: 3 })).resolves.toBe(1.5);
  }
});

test("L9: accepts settings as a schema of any library, and reports an invalid one", async () => {
  const provider = await loadFiles({
    "../package.json": "{}",
    "../node_modules/zod": `->${process.cwd()}/node_modules/zod`,
    "../node_modules/arktype": `->${process.cwd()}/node_modules/arktype`,
    "ark.ts": `import { type } from "arktype"; export const settings = type({ unit: "string" }); export const ask = () => 1;`,
    "bad.ts": `export const settings = { type: "array" }; export const ask = () => 1;`,
    "zod.ts": `import { z } from "zod"; export const settings = z.object({ key: z.string().meta({ writeOnly: true }) }); export const ask = () => 1;`,
  });
  expect(provider.skills.map(({ name, settings }) => [name, settings?.["properties"]])).toEqual([
    ["ArkSkill", { unit: { type: "string" } }],
    ["BadSkill", undefined],
    ["ZodSkill", { key: { type: "string", writeOnly: true } }],
  ]);
  expect(provider.problems).toEqual([
    {
      source: "bad.ts",
      error: 'Cannot load the skill: settings must be of type object, not "array" (SKILL_INVALID)',
    },
  ]);
});
