import * as fc from "fast-check";
import { expect, test } from "vitest";
import { createRegistry, declarations } from "../../src/registry/index.ts";
import type { ProvidedSkill } from "../../src/model/skill.ts";
import { hasRecordedTools, recordedSkills, skillOf } from "./catalogs.ts";
import { diagnosticsOf } from "./compile.ts";
import { rootSchema } from "./schemas.ts";

function catalogOf(...skills: readonly ProvidedSkill[]) {
  const registry = createRegistry();
  for (const skill of skills) registry.register(skill);
  return registry.catalog;
}

test("D5: whatever the schemas, their declarations compile under strict", () => {
  fc.assert(
    fc.property(fc.array(fc.tuple(rootSchema, rootSchema), { minLength: 5, maxLength: 10 }), (schemas) => {
      const methods = schemas.map(([input, output], at) => ({ name: `m${at}`, input, output, description: "*/" }));
      const text = declarations(catalogOf(skillOf("Wild", methods)));
      const problems = diagnosticsOf({ "catalog.ts": text });
      if (problems.length > 0) throw new Error(`${problems.join("\n")}\n${text}`);
    }),
    { numRuns: Number(process.env["RUNS"] ?? 20) },
  );
});
