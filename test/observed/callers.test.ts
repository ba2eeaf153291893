import { afterAll, beforeAll, describe, expect, onTestFinished, test } from "vitest";

import { createRuntime, defineSkill, type Runtime } from "../../src/index.ts";
import { createShape, observe, type ValueShape } from "../../src/observed/infer-schema.ts";
import { toSchema } from "../../src/observed/shape-schema.ts";
import { type Caller, OWNER } from "../../src/model/caller.ts";
import type { JsonSchema } from "../../src/model/json.ts";
import { createSessionRuns } from "../../src/surfaces/mcp/features/session-runs.ts";
import { readResource } from "../../src/surfaces/mcp/features/resources.ts";

const ada: Caller = { id: "ada", permissions: ["call:*"] };
const bob: Caller = { id: "bob", permissions: ["call:*"] };
const eve: Caller = { id: "eve", permissions: ["call:*"] };

/** Has a property that every caller gets, and one that only a single caller gets. */
const ProfileSkill = defineSkill({
  name: "ProfileSkill",
  description: "Reads profiles",
  methods: {
    read: {
      description: "Read your profile",
      run: async (_input, { caller }) => ({ name: "N", projects: { [`${caller.id}_merger`]: 1 } }),
    },
    list: {
      description: "List what you have",
      run: async (_input, { caller }) => (caller.id === "ada" ? [{ nickname: "a" }] : []),
    },
  },
});

const openRuntime = (typecheck: boolean): Promise<Runtime> =>
  createRuntime({ skillsDir: false, skills: [ProfileSkill], workers: 1, typecheck });

describe("hides names of properties that only one caller's results had [P2]", () => {
  let runtime: Runtime;
  beforeAll(async () => {
    runtime = await openRuntime(false);
    for (const caller of [ada, bob]) await runtime.call("ProfileSkill.read", {}, { caller });
    await runtime.call("ProfileSkill.list", {}, { caller: ada });
  });
  afterAll(() => runtime.close());

  const inProgram = async (code: string, caller: Caller): Promise<string> => (await runtime.run(code, { caller })).text;

  const asResource = async (uri: string, caller: Caller): Promise<string> => {
    const offers = {
      resources: [],
      templates: [],
      prompts: new Map(),
      skills: [],
      showSkills: () => {},
      find: () => [],
    };
    const context = { caller, signal: new AbortController().signal, log: () => {}, progress: () => {} };
    return JSON.stringify(
      await readResource(
        uri,
        { view: runtime.viewFor(caller), records: createSessionRuns(), offers, hasOwnTools: true },
        context,
      ),
    );
  };

  const WAYS: readonly (readonly [string, (caller: Caller) => unknown])[] = [
    ["describe of a method", (caller) => runtime.describe("ProfileSkill.read", { caller })],
    ["describe of a skill", (caller) => runtime.describe("ProfileSkill", { caller })],
    ["describe of a pattern", (caller) => runtime.describe("ProfileSkill.*", { caller })],
    ["a search", (caller) => runtime.search("read your profile", { caller })],
    ["a search in a program", (caller) => inProgram('return await device.search_skills("read your profile")', caller)],
    ["declarations", (caller) => runtime.declarations(undefined, { caller })],
    ["what was observed", (caller) => runtime.observed({ caller })],
    ["describe in a program", (caller) => inProgram('return await device.describe("ProfileSkill.read")', caller)],
    ["the resource of all declarations", (caller) => asResource("skillgate://declarations", caller)],
    ["the resource of a skill", (caller) => asResource("skillgate://skills/ProfileSkill", caller)],
    [
      "the resource of a skill's declarations",
      (caller) => asResource("skillgate://skills/ProfileSkill/declarations", caller),
    ],
  ];

  test.each(WAYS)("shows the names only to that caller and to the owner: %s", async (_way, show) => {
    const shown = async (caller: Caller): Promise<readonly boolean[]> => {
      const text = JSON.stringify(await show(caller));
      return ["projects", "ada_merger", "bob_merger"].map((name) => text.includes(name));
    };
    expect(await shown(ada)).toEqual([true, true, false]);
    expect(await shown(bob)).toEqual([true, false, true]);
    expect(await shown(eve)).toEqual([true, false, false]);
    expect(await shown(OWNER)).toEqual([true, true, true]);
    expect(await shown({ id: OWNER.id, permissions: ["call:*"] })).toEqual([true, false, false]);
  });

  test("finds nothing by the names", () => {
    for (const caller of [ada, bob, OWNER])
      for (const query of ["ada merger", "nickname"]) expect(runtime.search(query, { caller }).results).toEqual([]);
  });

  test("shows an object in which other callers may find any property", () => {
    expect(runtime.describe("ProfileSkill.list", { caller: ada }).declaration).toContain(
      "Promise<{ nickname: string }[]>",
    );
    expect(runtime.describe("ProfileSkill.list", { caller: bob }).declaration).toContain(
      "Promise<Record<string, any>[]>",
    );
    expect(runtime.describe("ProfileSkill.read", { caller: bob }).declaration).toContain(
      "Promise<{ name: string; projects: { bob_merger?: number; [key: string]: any } }>",
    );
  });
});

test("notes on results omit the missing properties of another caller's results [P2]", async () => {
  const skill = defineSkill({
    name: "EchoSkill",
    description: "Echoes",
    methods: {
      echo: {
        description: "Gives back what it got",
        input: { type: "object", properties: { value: {} }, required: ["value"] },
        run: async ({ value }: { value: unknown }) => value,
      },
    },
  });
  const runtime = await createRuntime({ skillsDir: false, skills: [skill], workers: 1 });
  onTestFinished(() => runtime.close());
  const notesOf = async (value: unknown, caller: Caller): Promise<unknown> => {
    const outcome = await runtime.run(`device.EchoSkill.echo({ value: ${JSON.stringify(value)} })`, { caller });
    return outcome.kind === "completed" ? outcome.notes : outcome.text;
  };
  for (let times = 0; times < 5; times++) expect(await notesOf({ id: 1, merger: 1 }, ada)).toEqual([]);
  expect(await notesOf({ id: 1 }, bob)).toEqual([]);
  for (let times = 0; times < 2; times++) expect(await notesOf({ id: 1, merger: 1 }, eve)).toEqual([]);
});

test(
  "notes and refusals of the type-check omit properties of another caller's results [P2]",
  { tags: "rest" },
  async () => {
    const runtime = await openRuntime(true);
    onTestFinished(() => runtime.close());
    for (const caller of [ada, bob]) await runtime.call("ProfileSkill.read", {}, { caller });
    const misspelt = "const { projects } = await device.ProfileSkill.read();\nprojects.ada_merge";
    const misread = "const profile = await device.ProfileSkill.read();\nprofile.projets";
    const said = async (source: string, caller: Caller): Promise<string> => {
      const outcome = await runtime.run(source, { caller });
      return outcome.kind === "completed" ? outcome.notes.join() : outcome.text;
    };
    // The first programs may find the compiler still cold.
    await expect.poll(() => said(misread, OWNER), { interval: 100, timeout: 50_000 }).not.toBe("");
    // The owner's own results have been seen by now: none of the names is shared by that.
    expect(await said(misspelt, OWNER)).toContain("ada_merge");
    for (const caller of [bob, eve, ada, bob]) {
      expect(await said(misspelt, caller)).not.toContain(caller === ada ? "bob_merger" : "ada_merger");
      expect(await said(misread, caller)).toContain("declared members: name, projects");
    }
  },
);

test("checks a cached program for another caller without the names of the first [P2]", async () => {
  const runtime = await openRuntime(false);
  onTestFinished(() => runtime.close());
  const source = 'await device.ProfileSkill.read();\nreturn await device.describe("ProfileSkill.read")';
  for (const caller of [ada, ada, bob]) {
    const { text } = await runtime.run(source, { caller });
    expect(text).toContain(`${caller.id}_merger`);
    expect(text).not.toContain(`${caller === ada ? "bob" : "ada"}_merger`);
  }
});

describe("an observed shape", () => {
  const schemaFor = (shape: ValueShape, caller: Caller): JsonSchema => toSchema(shape, caller);
  const shapeOf = (...seen: readonly (readonly [Caller, unknown])[]): ValueShape => {
    const shape = createShape();
    for (const [caller, value] of seen) observe(value, shape, { caller, compares: false });
    return shape;
  };

  test("shows a name to all callers from the second caller on, however often the first one had it", () => {
    const first = [ada, { a: { b: 1 } }] as const;
    expect(JSON.stringify(schemaFor(shapeOf(first, first, first), bob))).not.toContain('"a"');
    const shape = shapeOf(first, [bob, { a: {} }]);
    expect(schemaFor(shape, eve)).toEqual({
      type: "object",
      properties: { a: { type: "object", properties: {}, required: [], additionalProperties: {} } },
      required: ["a"],
    });
    expect(observe({ a: { b: 1 } }, shape, { caller: eve, compares: false }).hasChanged).toBe(true);
    expect(JSON.stringify(schemaFor(shape, { id: "joe", permissions: [] }))).toContain('"b"');
  });

  test("stores one caller for each property, however many callers there are", () => {
    const shape = createShape();
    for (let at = 0; at < 200; at++)
      observe({ id: at }, shape, { caller: { id: `caller-${at}`, permissions: [] }, compares: false });
    const text = JSON.stringify(shape, (_key, value: unknown) =>
      value instanceof Map || value instanceof Set ? [...value] : value,
    );
    expect(text).not.toContain("caller-");
    expect(text.length).toBeLessThan(300);
  });

  test("keeps the caller of a name when shapes of dictionaries are merged", () => {
    const wide = Object.fromEntries(Array.from({ length: 41 }, (_, at) => [`k${at}`, { mine: at }]));
    const shape = shapeOf([ada, { x: { mine: 1 }, y: { mine: 2 } }], [ada, wide]);
    expect(JSON.stringify(schemaFor(shape, ada))).toContain('"mine"');
    expect(JSON.stringify(schemaFor(shape, bob))).not.toContain('"mine"');
    observe({ ...wide }, shape, { caller: bob, compares: false });
    expect(JSON.stringify(schemaFor(shape, eve))).toContain('"mine"');
  });
});
