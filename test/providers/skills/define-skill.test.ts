import { describe, expect, test } from "vitest";
import { z } from "zod";

import { METADATA_FIELDS } from "../../../src/authoring/metadata.ts";
import { defineSkill } from "../../../src/authoring/define-skill.ts";
import { call, createTestContext } from "./call.ts";

const NUMBERS = {
  type: "object",
  properties: { a: { type: "number" }, b: { type: "number", default: 2 } },
  required: ["a"],
} as const;

describe("defineSkill", () => {
  test("defines a skill with JSON Schema and all metadata [L2]", async () => {
    const math = defineSkill({
      name: "MathSkill",
      description: "Does sums",
      guidance: "Count on it",
      methods: {
        add: {
          description: "Adds",
          input: NUMBERS,
          output: { type: "number" },
          examples: [{ request: "Add 1 and 2", code: "device.MathSkill.add(1, 2)" }],
          category: "math",
          timeoutMs: 500,
          readOnly: true,
          run: ({ a, b }, { caller }) => `${caller.id}: ${a + b}`,
        },
        zero: { description: "Zero", run: () => 0 },
      },
    });
    expect(math).toMatchObject({
      name: "MathSkill",
      description: "Does sums",
      source: "code",
      kind: "code",
      guidance: "Count on it",
    });
    expect(math.methods).toEqual([
      {
        name: "add",
        description: "Adds",
        input: NUMBERS,
        output: { type: "number" },
        metadata: { category: "math", timeoutMs: 500, readOnly: true },
        examples: [{ request: "Add 1 and 2", code: "device.MathSkill.add(1, 2)" }],
      },
      { name: "zero", description: "Zero", input: { type: "object", properties: {}, additionalProperties: false } },
    ]);
    await expect(call({ skills: [math] }, "MathSkill.add", { a: 1, b: 2 })).resolves.toBe("ada: 3");
    await expect(call({ skills: [math] }, "MathSkill.zero")).resolves.toBe(0);
  });

  test("converts a Standard Schema to JSON Schema, and converts the input of each call [T4]", async () => {
    const skill = defineSkill({
      name: "TripSkill",
      description: "",
      methods: {
        book: {
          description: "Books",
          input: z.object({
            city: z.string().min(2).describe("Where to"),
            days: z.coerce.number().int().default(3),
            unit: z.enum(["c", "f"]).nullable(),
          }),
          output: z.object({ ok: z.boolean() }),
          run: ({ city, days, unit }) => ({ city: city.toUpperCase(), days: days.toFixed(1), unit }),
        },
      },
    });
    expect(skill.methods[0]).toMatchObject({
      input: {
        type: "object",
        properties: {
          city: { type: "string", minLength: 2, description: "Where to" },
          days: { type: "integer", default: 3 },
          unit: { anyOf: [{ type: "string", enum: ["c", "f"] }, { type: "null" }] },
        },
        required: ["city", "unit"],
      },
      output: { type: "object", properties: { ok: { type: "boolean" } }, required: ["ok"] },
    });
    await expect(call({ skills: [skill] }, "TripSkill.book", { city: "Rome", days: "5", unit: null })).resolves.toEqual(
      {
        city: "ROME",
        days: "5.0",
        unit: null,
      },
    );
    await expect(call({ skills: [skill] }, "TripSkill.book", { city: "R", unit: "k" })).rejects.toMatchObject({
      code: "ARGUMENTS_INVALID",
      message: expect.stringMatching(
        /^Cannot call a method with these arguments: TripSkill\.book: "city": .+; "unit": .+ \(ARGUMENTS_INVALID\)$/,
      ),
    });
  });

  test("accepts any value for what JSON Schema cannot express, and still validates it [L2]", async () => {
    const skill = defineSkill({
      name: "DateSkill",
      description: "",
      methods: { of: { description: "", input: z.object({ at: z.date() }), run: ({ at }) => at.getUTCFullYear() } },
    });
    expect(skill.methods[0]?.input).toMatchObject({ type: "object", properties: { at: {} } });
    await expect(call({ skills: [skill] }, "DateSkill.of", { at: new Date(0) })).resolves.toBe(1970);
    await expect(call({ skills: [skill] }, "DateSkill.of", { at: "today" })).rejects.toMatchObject({
      code: "ARGUMENTS_INVALID",
    });
  });

  test("accepts any object for a schema of a library that cannot write JSON Schema [L2]", async () => {
    const even = {
      "~standard": {
        version: 1 as const,
        vendor: "homemade",
        validate: async (value: unknown) =>
          (value as { n: number }).n % 2 === 0
            ? { value: { half: (value as { n: number }).n / 2 } }
            : { issues: [{ message: "is odd", path: [{ key: "n" }] }] },
      },
    };
    const skill = defineSkill({
      name: "EvenSkill",
      description: "",
      methods: { half: { description: "", input: even, run: ({ half }) => half } },
    });
    expect(skill.methods[0]?.input).toEqual({ type: "object" });
    await expect(call({ skills: [skill] }, "EvenSkill.half", { n: 4 })).resolves.toBe(2);
    await expect(call({ skills: [skill] }, "EvenSkill.half", { n: 3 })).rejects.toThrow('EvenSkill.half: "n": is odd');
  });

  test("calls a health check, and validates its answer [L8]", async () => {
    const of = (healthCheck?: () => never) =>
      defineSkill({
        name: "WellSkill",
        description: "",
        methods: { a: { description: "", run: () => 1 } },
        ...(healthCheck && { healthCheck }),
      }).health();
    await expect(of()).resolves.toEqual({ healthy: true, message: "ok" });
    await expect(of((() => ({ healthy: false, message: "tired" })) as never)).resolves.toEqual({
      healthy: false,
      message: "tired",
    });
    await expect(of((() => "fine") as never)).resolves.toEqual({
      healthy: false,
      message: "healthCheck() did not return { healthy, message }",
    });
  });

  test.each<[source: unknown, why: string]>([
    [undefined, "defineSkill expects an object, not undefined"],
    [{ name: "math skill" }, 'name must be an identifier, not "math skill"'],
    [{ name: "constructor" }, 'name must be an identifier, not "constructor"'],
    [{ name: "MathSkill" }, '"MathSkill" needs a description'],
    [{ name: "MathSkill", description: "" }, '"MathSkill" needs methods: { … }'],
    [
      { name: "MathSkill", description: "", method: {} },
      '"MathSkill" has the unknown field method; did you mean methods?',
    ],
    [{ name: "MathSkill", description: "", methods: {} }, '"MathSkill" needs methods: { … }'],
    [
      { name: "MathSkill", description: "", methods: { constructor: {} } },
      '"MathSkill.constructor" cannot be the name of a method',
    ],
    [
      { name: "MathSkill", description: "", methods: { add: 5 } },
      '"MathSkill.add" must be { description, input, run }, not 5',
    ],
    [createDefinition({ run: 5 }), 'run of "MathSkill.add" must be a function, not 5'],
    [
      createDefinition({ handler: 5 }),
      `"MathSkill.add" has the unknown field handler; use description, input, output, examples, run, ${METADATA_FIELDS.slice(0, -1).join(", ")} or taskSupport`,
    ],
    [createDefinition({ timeoutMS: 5 }), '"MathSkill.add" has the unknown field timeoutMS; did you mean timeoutMs?'],
    [
      createDefinition({ timeoutMs: "soon" }),
      'timeoutMs of "MathSkill.add" must be a number of milliseconds above 0, not "soon"',
    ],
    [createDefinition({ approval: "maybe" }), 'approval of "MathSkill.add" must be none, user, admin, not "maybe"'],
    [
      createDefinition({ deprecated: true }),
      'deprecated of "MathSkill.add" must be false, or a sentence that says what to use instead, not true',
    ],
    [
      createDefinition({ version: "1" }),
      'version of "MathSkill.add" must be a semantic version such as "1.0.0", not "1"',
    ],
    [
      createDefinition({ input: "text" }),
      'input of "MathSkill.add" must be JSON Schema or a Standard Schema, not "text"',
    ],
    [createDefinition({ input: { type: "string" } }), 'input of "MathSkill.add" must be of type object, not "string"'],
    [createDefinition({ input: z.string() }), 'input of "MathSkill.add" must be of type object, not "string"'],
    [createDefinition({ examples: "none" }), 'examples of "MathSkill.add" must be a list of { request, code }'],
    [
      { name: "MathSkill", description: "", methods: { add: { description: "", run: () => 1 } }, healthCheck: true },
      'healthCheck of "MathSkill" must be a function, not true',
    ],
  ])("reports the position of the mistake in an invalid definition: %# [L2]", (source, why) => {
    expect(() => defineSkill(source as never)).toThrow(
      expect.objectContaining({ code: "SKILL_INVALID", message: `Cannot load the skill: ${why} (SKILL_INVALID)` }),
    );
  });

  test("refuses a method that the skill does not have [L2]", async () => {
    const skill = defineSkill({ name: "OneSkill", description: "", methods: { a: { description: "", run: () => 1 } } });
    const other = { name: "b", description: "", input: {} };
    await expect(skill.invoke(other, {}, createTestContext())).rejects.toMatchObject({ code: "METHOD_UNKNOWN" });
  });
});

/** A definition with one method, in which something is wrong. */
function createDefinition(fields: object): object {
  return { name: "MathSkill", description: "", methods: { add: { description: "", run: () => 1, ...fields } } };
}
