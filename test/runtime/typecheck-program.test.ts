import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";

import { createRuntime, defineSkill } from "../../src/index.ts";
import { readOptions } from "../../src/runtime/settings/index.ts";

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

test(
  "refuses what the compiler is certain of before anything runs, at the model's own position [S5]",
  { tags: "rest" },
  async () => {
    await using runtime = await createRuntime({ skillsDir: false, skills: [PeopleSkill], typecheck: true });
    const misspelt = "```js\nconst who = await device.PeopleSkill.find(36);\nwho.nmae\n```";
    const wrong = 'const id = "one";\nconst who = await device.PeopleSkill.find(id);\nwho.name';
    // The first programs may find the compiler still cold: then they run.
    const findViolations = async (source: string): Promise<unknown> => {
      const outcome = await runtime.run(source);
      return outcome.kind === "refused" && outcome.violations.map(({ code, line, column }) => [code, line, column]);
    };
    await expect
      .poll(() => findViolations(misspelt), { interval: 100, timeout: 50_000 })
      .toEqual([["MEMBER_UNKNOWN", 3, 4]]);
    await expect
      .poll(() => findViolations(wrong), { interval: 100, timeout: 50_000 })
      .toEqual([["ARGUMENTS_INVALID", 2, 42]]);
    expect(await runtime.run("(await device.PeopleSkill.find(36)).name")).toMatchObject({
      kind: "completed",
      value: "Ada",
    });
  },
);

test(
  "checks programs by default once the compiler is loaded, and adds uncertain findings as notes [S5]",
  { tags: "rest" },
  async () => {
    await using runtime = await createRuntime({ skillsDir: false, skills: [PeopleSkill] });
    const run = () => runtime.run("(await device.PeopleSkill.find(36)).shoeSize");
    expect(await run()).toMatchObject({ kind: "completed", value: undefined, notes: [] });
    await expect.poll(run, { interval: 100, timeout: 50_000 }).toMatchObject({
      kind: "completed",
      value: undefined,
      notes: [
        'Line 1 may be wrong: "shoeSize" does not exist in the result of PeopleSkill.find; declared members: name, age',
      ],
    });
  },
);

test(
  "checks a program in which types can find nothing without loading the compiler [S5]",
  { tags: "rest" },
  async () => {
    await using runtime = await createRuntime({ skillsDir: false, skills: [PeopleSkill] });
    let threads = 0;
    const count = (): void => void threads++;
    process.on("worker", count);
    onTestFinished(() => void process.off("worker", count));
    expect((await runtime.checkTypes("1 + 1")).violations).toEqual([]);
    expect(threads).toBe(0);
    expect((await runtime.checkTypes("(await device.PeopleSkill.find(36)).nmae")).violations).toHaveLength(1);
    expect(threads).toBe(1);
  },
);

test("never loads the compiler if the option or the settings disable it [S5]", async () => {
  expect(await readOptions({ typecheck: false })).toMatchObject({ typecheck: false });
  expect(await readOptions({})).toMatchObject({ typecheck: true });
  expect(await readOptions({ lazy: true })).toMatchObject({ typecheck: false });
  const folder = mkdtempSync(join(tmpdir(), "skillgate-typecheck-"));
  try {
    writeFileSync(join(folder, "settings.yaml"), "typecheck: false\n");
    const settings = await readOptions({ settings: "settings.yaml", cwd: folder });
    expect(settings).toMatchObject({ typecheck: false, problems: [] });
  } finally {
    rmSync(folder, { recursive: true });
  }
});

test(
  "adds a note, and runs the program, if only observed results or an example contradict it [D3]",
  { tags: "rest" },
  async () => {
    const DogSkill = defineSkill({
      name: "DogSkill",
      description: "Knows dogs",
      methods: {
        find: { description: "Find a dog", run: async () => ({ name: "Rex", age: 3 }) },
        walk: { description: 'Walk a dog. Returns: {"meters": 5}', run: async () => undefined },
      },
    });
    await using runtime = await createRuntime({ skillsDir: false, skills: [DogSkill], typecheck: true });
    const notes = async (source: string): Promise<readonly string[]> => {
      const outcome = await runtime.run(source);
      return outcome.kind === "completed" ? outcome.notes : [outcome.text];
    };
    expect(await notes("(await device.DogSkill.find()).name")).toEqual([]);
    const misspelt = "const dog = await device.DogSkill.find();\ndog.nmae";
    // The first programs may find the compiler still cold.
    await expect
      .poll(() => notes(misspelt), { interval: 100, timeout: 50_000 })
      .toEqual([
        'Line 2, column 5, by results and examples so far: Cannot find this member of a result: "nmae" does not exist in the result of DogSkill.find; declared members: name, age (MEMBER_UNKNOWN)',
      ]);
    expect(await notes("(await device.DogSkill.walk())?.metres")).toEqual([
      'Line 1, column 33, by results and examples so far: Cannot find this member of a result: "metres" does not exist in the result of DogSkill.walk; declared members: meters (MEMBER_UNKNOWN)',
    ]);
  },
);

test("names a setting of the type check that is neither true nor false", async () => {
  const folder = mkdtempSync(join(tmpdir(), "skillgate-typecheck-"));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  const settings = join(folder, "settings.yaml");
  writeFileSync(settings, "typecheck: off\n");
  const runtime = await createRuntime({ cwd: folder, settings, skillsDir: false, skills: [] });
  onTestFinished(() => runtime.close());
  expect(runtime.problems.map(({ error }) => error)).toEqual([
    `Cannot read the configuration: ${settings} line 1, column 1: typecheck must be true or false; on, off, yes and no are texts in YAML 1.2 (CONFIG_INVALID)`,
  ]);
});
