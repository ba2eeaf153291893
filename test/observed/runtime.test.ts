import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, expect, test } from "vitest";
import { createRuntime, defineSkill, type Runtime, type RuntimeOptions } from "../../src/index.ts";

const object = { type: "object" } as const;

const KitchenSkill = defineSkill({
  name: "KitchenSkill",
  description: "Runs the kitchen",
  methods: {
    heat: { description: "Warms an oven", input: object, run: async () => ({ celsius: 180, ready: false }) },
    chill: { description: "Cools a fridge", input: object, run: async () => ({ celsius: 4 }) },
    burn: { description: "Ruins dinner", input: object, run: () => Promise.reject(new Error("smoke")) },
    echo: {
      description: "Gives back what it got",
      input: { type: "object", properties: { value: {} }, required: ["value"] },
      run: async ({ value }: { value: unknown }) => value,
    },
    weigh: {
      description: "Weighs flour",
      input: { type: "object", properties: { value: {} }, required: ["value"] },
      output: { type: "number" },
      run: async ({ value }: { value: unknown }) => value,
    },
  },
});

const ada = { id: "ada", permissions: ["call:KitchenSkill.*"] };
const bob = { id: "bob", permissions: ["call:KitchenSkill.*"] };

let runtime: Runtime;
afterEach(() => runtime.close());

async function open(options: RuntimeOptions = {}): Promise<void> {
  runtime = await createRuntime({ skillsDir: false, skills: [KitchenSkill], workers: 1, ...options });
}

function found(query: string, caller = ada): readonly string[] {
  return runtime.search(query, { caller }).results.map(({ path }) => path);
}

test("finds a method by words that were searched before it was called successfully [D1]", async () => {
  await open();
  expect(runtime.search("bake lasagna", { caller: ada })).toEqual({
    results: [],
    text: expect.stringMatching(/^No results found\nSkills: KitchenSkill\nSearch again with/),
  });
  await runtime.call("KitchenSkill.heat", {}, { caller: ada });
  expect(found("baking a lasagna")[0]).toBe("KitchenSkill.heat");
  expect(runtime.search("lasagna", { caller: ada }).text).toBe(
    "Found 1 result(s):\n- KitchenSkill.heat(args?: Record<string, unknown>): Promise<{ celsius: number; ready: boolean }> (observed once) — Warms an oven",
  );
});

test("observes from a program that searches and then calls [D1]", async () => {
  await open();
  const source = `await device.search_skills("bake lasagna"); await device.KitchenSkill.heat()`;
  const outcome = await runtime.run(source, { caller: ada });
  expect(outcome).toMatchObject({ kind: "completed", calls: [{ skill: "KitchenSkill", method: "heat" }] });
  expect(outcome).toMatchObject({ usage: { calls: 1 } });
  expect(found("lasagna")).toEqual(["KitchenSkill.heat"]);
});

test("counts searches inside a program separately from calls [D1]", async () => {
  await open();
  const source = `
    for (let at = 0; at < 3; at++) print(await device.search_skills("fridge", 1));
    print((await device.describe("KitchenSkill.chill")).split("\\n")[0]);
    (await device.KitchenSkill.chill()).celsius`;
  const outcome = await runtime.run(source, { caller: ada, limits: { calls: 3 } });
  expect(outcome).toMatchObject({ kind: "failed", error: { code: "CALL_LIMIT" } });
  const enough = await runtime.run(source, { caller: ada, limits: { calls: 4 } });
  expect(enough).toMatchObject({ kind: "completed", value: 4, usage: { calls: 1 }, calls: [{ method: "chill" }] });
  expect(enough.kind === "completed" && enough.output.split("\n").at(-1)).toBe("device.KitchenSkill.chill");
});

test("accepts positional and named arguments for searches, as for calls [D1]", async () => {
  await open();
  const outcomes = await Promise.all(
    [
      `await device.search_skills("fridge", 1)`,
      `await device.search_skills({ query: "fridge", limit: 1 })`,
      `device.search_skills(query="fridge")`,
      `device.describe("KitchenSkill.chill")`,
      `device.describe({ path: "KitchenSkill.chill" })`,
      `const path = "KitchenSkill." + "chill"; const said = device.describe(path); said`,
    ].map((source) => runtime.run(source)),
  );
  const lines = outcomes.map((outcome) => (outcome.kind === "completed" ? String(outcome.value) : outcome.text));
  const found = "Found 1 result(s):\n- KitchenSkill.chill(args?: Record<string, unknown>) — Cools a fridge";
  const described = runtime.describe("KitchenSkill.chill").text;
  expect(lines).toEqual([found, found, found, described, described, described]);
});

test("keeps words observed from one caller from affecting another [D1]", async () => {
  await open();
  found("bake lasagna");
  await runtime.call("KitchenSkill.heat", {}, { caller: ada });
  expect(found("lasagna")).toEqual(["KitchenSkill.heat"]);
  expect(found("lasagna", bob)).toEqual([]);
  expect(runtime.search("lasagna").results).toEqual([]);
  expect(runtime.observed({ caller: bob }).requests).toEqual([]);
});

test("neither finds nor names methods that a caller may no longer read, whatever was observed [D1]", async () => {
  await open();
  found("bake lasagna");
  await runtime.call("KitchenSkill.heat", {}, { caller: ada });
  const less = { id: "ada", permissions: ["call:KitchenSkill.chill"] };
  expect(runtime.search("lasagna", { caller: less }).results).toEqual([]);
  expect(runtime.search("cool lasagna", { caller: less }).text).toContain("Words without a match: lasagna");
  expect(runtime.observed({ caller: less })).toEqual({ requests: [], results: [] });
});

test("observes nothing from failed and refused calls [D1]", async () => {
  await open();
  found("make lasagna");
  await expect(runtime.call("KitchenSkill.burn", {}, { caller: ada })).rejects.toThrow("smoke");
  await expect(runtime.call("KitchenSkill.weigh", {}, { caller: ada })).rejects.toThrow("ARGUMENTS_INVALID");
  expect(found("lasagna")).toEqual([]);
});

test("assigns the words of each of several searches to the method that it listed [D1]", async () => {
  await open();
  found("lasagna oven");
  found("icecream fridge");
  await runtime.run("device.KitchenSkill.chill(); device.KitchenSkill.heat()", { caller: ada });
  expect(found("lasagna")).toEqual(["KitchenSkill.heat"]);
  expect(found("icecream")).toEqual(["KitchenSkill.chill"]);
});

test("observes only the words that the index keeps: no sentences, numbers or stop words [D1]", async () => {
  await open();
  found("Please bake 2 lasagnas for +49 171 5551234");
  await runtime.call("KitchenSkill.heat", {}, { caller: ada });
  expect(runtime.observed({ caller: ada }).requests).toEqual([
    { path: "KitchenSkill.heat", words: ["bake", "lasagna"] },
  ]);
});

test("forgets on request what was observed from one caller, for one method or all [D1]", async () => {
  await open();
  const teach = async (): Promise<void> => {
    for (const caller of [ada, bob]) {
      found("bake lasagna", caller);
      await runtime.call("KitchenSkill.heat", {}, { caller });
    }
  };
  await teach();
  runtime.forget({ caller: ada });
  expect([found("lasagna"), found("lasagna", bob)]).toEqual([[], ["KitchenSkill.heat"]]);
  runtime.forget({ caller: bob, path: "KitchenSkill.chill" });
  expect(found("lasagna", bob)).toEqual(["KitchenSkill.heat"]);
  runtime.forget({ caller: bob, path: "KitchenSkill.heat" });
  expect(found("lasagna", bob)).toEqual([]);
  await teach();
  runtime.forget();
  expect([found("lasagna"), found("lasagna", bob)]).toEqual([[], []]);
  expect(runtime.observed()).toEqual({ requests: [], results: [] });
});

test.each([[false], [{ requests: false, results: false }]])(
  "observes nothing with observe: %j [D1, D3]",
  async (observe) => {
    await open({ observe });
    found("bake lasagna");
    await runtime.call("KitchenSkill.heat", {}, { caller: ada });
    expect(found("lasagna")).toEqual([]);
    expect(runtime.describe("KitchenSkill.heat").declaration).toContain("Promise<any>");
    expect(runtime.observed({ caller: ada })).toEqual({ requests: [], results: [] });
  },
);

test("disables observations by a setting, and reports an invalid setting [D1]", { tags: "rest" }, async () => {
  const folder = mkdtempSync(join(tmpdir(), "skillgate-"));
  try {
    const settings = join(folder, "settings.yaml");
    writeFileSync(settings, "observe:\n  requests: false\n");
    await open({ settings });
    found("bake lasagna");
    await runtime.call("KitchenSkill.heat", {}, { caller: ada });
    expect(found("lasagna")).toEqual([]);
    expect(runtime.describe("KitchenSkill.heat").text).toContain("observed once");
    expect(runtime.problems).toEqual([]);
    await runtime.close();
    writeFileSync(settings, "observe: sometimes\n");
    await open({ settings });
    const says = "observe must be true, false, or have requests and results, each true or false";
    expect(runtime.problems.map(({ error }) => error)).toEqual([
      `Cannot read the configuration: ${settings} line 1, column 1: ${says} (CONFIG_INVALID)`,
    ]);
    await expect(createRuntime({ observe: "yes" as never })).rejects.toThrow(
      `Cannot use this option: ${says} (OPTION_INVALID)`,
    );
  } finally {
    rmSync(folder, { recursive: true });
  }
});

test("observes the types of results and marks them as observed [D3]", async () => {
  await open();
  expect(runtime.describe("KitchenSkill.heat").declaration).toBe(
    "/** Warms an oven */\nheat(args?: Record<string, unknown>): Promise<any>;",
  );
  await runtime.call("KitchenSkill.heat", {});
  await runtime.run("device.KitchenSkill.heat()", { caller: ada });
  const { declaration, notes, text } = runtime.describe("KitchenSkill.heat");
  expect(declaration).toBe(`/**
 * Warms an oven
 * @returns observed 2 times
 */
heat(args?: Record<string, unknown>): Promise<{ celsius: number; ready: boolean }>;`);
  expect(notes).toEqual(["The return type was observed: observed 2 times"]);
  expect(text).toContain("\nNote: The return type was observed: observed 2 times");
  expect(runtime.declarations(["KitchenSkill"])).toContain("Promise<{ celsius: number; ready: boolean }>");
  expect(runtime.observed().results).toEqual([
    {
      path: "KitchenSkill.heat",
      times: 2,
      schema: {
        type: "object",
        properties: { celsius: { type: "number" }, ready: { type: "boolean" } },
        required: ["celsius", "ready"],
      },
    },
  ]);
});

test("reports once a result unlike those before it [D3]", async () => {
  await open();
  const runNotes = async (value: unknown): Promise<readonly string[]> => {
    const outcome = await runtime.run(`device.KitchenSkill.echo({ value: ${JSON.stringify(value)} })`);
    return outcome.kind === "completed" ? outcome.notes : [outcome.text];
  };
  for (let times = 0; times < 5; times++) expect(await runNotes({ days: [{ low: 3 }] })).toEqual([]);
  expect(await runNotes({ days: [{ low: "cold" }] })).toEqual([
    "The result of KitchenSkill.echo differs from the 5 before it at days[].low: it is a string, previously a number",
  ]);
  expect(await runNotes({ days: "none" })).toEqual([]);
  expect(runtime.describe("KitchenSkill.echo").declaration).toContain(
    "Promise<{ days: string | { low: number | string }[] }>",
  );
});

test("reports once a result that contradicts its output schema [D3]", async () => {
  await open();
  const notes = [];
  for (let times = 0; times < 3; times++) {
    const outcome = await runtime.run(`device.KitchenSkill.weigh({ value: "much" })`);
    notes.push(outcome.kind === "completed" ? outcome.notes : []);
  }
  expect(notes).toEqual([
    ['The result of KitchenSkill.weigh does not match its output schema: it must be a number, not "much"'],
    [],
    [],
  ]);
});

test("describes members that were text holding JSON as such [D3]", async () => {
  await open();
  await runtime.call("KitchenSkill.echo", { value: { payload: '{"a":1}', name: "x" } });
  expect(runtime.describe("KitchenSkill.echo").text).toContain("/** text holding JSON */\n  payload: string;");
  await runtime.call("KitchenSkill.echo", { value: { payload: "plain", name: "x" } });
  expect(runtime.describe("KitchenSkill.echo").text).not.toContain("text holding JSON");
  runtime.forget();
  await runtime.call("KitchenSkill.echo", { value: "[1, 2]" });
  expect(runtime.describe("KitchenSkill.echo").text).toContain("@returns text holding JSON, observed once");
});
