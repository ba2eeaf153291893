import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";

import { Ajv2020 } from "ajv/dist/2020.js";
import { type } from "arktype";
import * as v from "valibot";
import { describe, expect, onTestFinished, test, vi } from "vitest";
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
])("a schema of %s [T4, L2]", (_library, input, described) => {
  const skill = defineSkill({
    name: "TripSkill",
    description: "",
    methods: { book: { description: "Books", input, run: (trip) => trip } },
  });

  test("converts the schema to JSON Schema with constraints and defaults", () => {
    const { properties, required } = skill.methods[0]?.input ?? {};
    expect(properties).toMatchObject({ ...PROPERTIES, city: { ...PROPERTIES.city, ...described } });
    expect(new Set(required as string[])).toEqual(new Set(["city", "unit"]));
  });

  test("validates and completes the input of each call", async () => {
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

test("converts a recursive valibot schema [T4]", () => {
  interface Tree {
    readonly children: Tree[];
  }
  const tree: v.GenericSchema<Tree> = v.object({ children: v.array(v.lazy(() => tree)) });
  const skill = defineSkill({
    name: "TreeSkill",
    description: "",
    methods: { grow: { description: "", input: v.object({ tree }), run: () => 1 } },
  });
  const fits = new Ajv2020().compile(skill.methods[0]?.input ?? {});
  expect(fits({ tree: { children: [{ children: [] }] } })).toBe(true);
  expect(fits({ tree: { children: [1] } })).toBe(false);
});

test("names the package that a valibot schema needs if it is not installed [L2]", async () => {
  const folder = await mkdtemp(join(tmpdir(), "skillgate-"));
  onTestFinished(() => rm(folder, { recursive: true }));
  onTestFinished(() => void vi.restoreAllMocks());
  vi.spyOn(process, "cwd").mockReturnValue(folder);
  const define = (input: unknown) => () =>
    defineSkill({ name: "TripSkill", description: "", methods: { book: { description: "", input, run: () => 1 } } });
  expect(define({ days: v.number() })).toThrow(
    'Cannot load the skill: input of "TripSkill.book", field "days", is a valibot schema that cannot be read. Install its converter in the working directory: npm install @valibot/to-json-schema',
  );
  expect(define(valibotTrip)).toThrow("npm install @valibot/to-json-schema");
  expect(define(zodTrip)).not.toThrow();
  expect(define(arktypeTrip)).not.toThrow();
});

test("loads each of the three libraries in a skill file, from its own packages [L2]", { tags: "rest" }, async () => {
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
         import { z } from "zod"; import * as v from "valibot"; import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";

import { Ajv2020 } from "ajv/dist/2020.js";
import { type } from "arktype";
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

test("accepts settings as a schema of any library, and reports an invalid one [L9]", { tags: "rest" }, async () => {
  const provider = await loadFiles({
    "../package.json": "{}",
    "../node_modules/zod": `->${process.cwd()}/node_modules/zod`,
    "../node_modules/arktype": `->${process.cwd()}/node_modules/arktype`,
    "ark.ts": `import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";

import { Ajv2020 } from "ajv/dist/2020.js";
import { type } from "arktype"; export const settings = type({ unit: "string" }); export const ask = () => 1;`,
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
