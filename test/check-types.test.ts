import { expect, test } from "vitest";

import { createRuntime, defineSkill } from "../src/index.ts";

const PeopleSkill = defineSkill({
  name: "PeopleSkill",
  description: "Knows people",
  methods: {
    find: {
      description: "Find a person",
      input: { type: "object", properties: { id: { type: "number" } }, required: ["id"] },
      output: {
        type: "object",
        properties: { name: { type: "string" }, age: { type: "number" } },
        required: ["name", "age"],
        additionalProperties: false,
      },
      run: async ({ id }: { id: number }) => ({ name: "Ada", age: id }),
    },
  },
});

test("S5: what the compiler is certain of is refused before anything runs, at the model's own place", async () => {
  await using runtime = await createRuntime({ skillsDir: false, skills: [PeopleSkill], typecheck: true });
  const misspelt = "```js\nconst who = await device.PeopleSkill.find(36);\nwho.nmae\n```";
  const wrong = 'const id = "one";\nconst who = await device.PeopleSkill.find(id);\nwho.name';
  // The first snippets may find the compiler still cold: then they run.
  const refused = async (source: string): Promise<unknown> => {
    for (;;) {
      const outcome = await runtime.run(source);
      if (outcome.kind === "refused") return outcome.violations.map(({ code, line, column }) => [code, line, column]);
    }
  };
  expect(await refused(misspelt)).toEqual([["MEMBER_UNKNOWN", 3, 4]]);
  expect(await refused(wrong)).toEqual([["ARGUMENTS_INVALID", 2, 42]]);
  expect(await runtime.run("(await device.PeopleSkill.find(36)).name")).toMatchObject({
    kind: "completed",
    value: "Ada",
  });
});
