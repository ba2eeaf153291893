import { Ajv2020 } from "ajv/dist/2020.js";
import addFormats from "ajv-formats";
import * as fc from "fast-check";
import { expect, test } from "vitest";
import type { JsonSchema } from "../../src/model/json.ts";
import { createRegistry, exampleArguments } from "../../src/registry/index.ts";
import { describe as describePath } from "../../src/registry/index.ts";
import { hasRecordedTools, recordedSkills, skillOf } from "./catalogs.ts";
import { fittingInput } from "./schemas.ts";

const ajv = new Ajv2020({ strict: false, validateSchema: false, logger: false });
addFormats.default(ajv);

function problemsOf(input: JsonSchema): unknown {
  const { $schema: _, ...schema } = input;
  const validate = ajv.compile(schema);
  return validate(exampleArguments({ input })) ? undefined : validate.errors;
}

test("T7: a generated example validates against the schema that it was made from", () => {
  fc.assert(
    fc.property(fittingInput, (input) => {
      const problems = problemsOf(input);
      if (problems !== undefined) throw new Error(JSON.stringify([exampleArguments({ input }), problems]));
    }),
    { numRuns: Number(process.env["RUNS"] ?? 300) },
  );
});

test.skipIf(!hasRecordedTools)("T7: the examples of every recorded tool validate", () => {
  for (const skill of recordedSkills()) {
    for (const { name, input } of skill.methods) expect([name, problemsOf(input)]).toEqual([name, undefined]);
  }
});
