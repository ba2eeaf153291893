import { setImmediate } from "node:timers/promises";

import { expect, onTestFinished, test } from "vitest";

import { createRuntime, type Runtime } from "../../src/index.ts";
import { OWNER } from "../../src/model/caller.ts";
import type { ProvidedSkill } from "../../src/model/skill.ts";
import { createRegistry, isIndexed, search } from "../../src/registry/index.ts";
import { searchSkills } from "../../src/runtime/builtin-tools/index.ts";
import { createSkill } from "./catalogs.ts";

function bigServer(methods: number, verb = "paint"): ProvidedSkill {
  const numbered = Array.from({ length: methods }, (_, at) => ({
    name: `${verb}_${at}`,
    description: `Will ${verb} the fence number ${at} of the garden in the colour that is asked for`,
  }));
  return createSkill("FenceMCP", numbered, { kind: "mcp", server: "fence" });
}

async function open(): Promise<Runtime> {
  const runtime = await createRuntime({ skillsDir: false, workers: 1, typecheck: false });
  onTestFinished(() => runtime.close());
  return runtime;
}

/** How many turns the event loop takes until the work is done. */
async function countTurns(work: Promise<unknown>): Promise<number> {
  const progress = { turns: 0, isDone: false };
  const done = work.finally(() => (progress.isDone = true));
  for (; !progress.isDone; progress.turns++) await setImmediate();
  await done;
  return progress.turns;
}

test("lets the event loop turn while a search indexes the 5,000 methods of one server [S13]", async () => {
  const runtime = await open();
  runtime.register(bigServer(5_000));
  const found = searchSkills(runtime, { query: "paint fence 4999" }, OWNER);
  expect(await countTurns(found)).toBeGreaterThan(4);
  expect((await found).results[0]?.path).toBe("FenceMCP.paint_4999");
});

test("shares one slice of indexing in each turn among concurrent searches [S13]", async () => {
  const runtime = await open();
  runtime.register(bigServer(2_000));
  const searches = Array.from({ length: 20 }, () => searchSkills(runtime, { query: "paint fence 1999" }, OWNER));
  expect(await countTurns(Promise.all(searches))).toBeGreaterThan(2);
});

test("indexes methods in the background, in several turns of the event loop, before a search [S13]", async () => {
  const runtime = await open();
  runtime.register(bigServer(5_000));
  const indexed = async (): Promise<void> => {
    while (!isIndexed(runtime.catalog)) await setImmediate();
  };
  expect(await countTurns(indexed())).toBeGreaterThan(4);
});

test("finds methods in a library search that were registered just before [D1]", async () => {
  const runtime = await open();
  runtime.register(bigServer(500));
  expect(runtime.search("paint fence 499").results[0]?.path).toBe("FenceMCP.paint_499");
});

test("names similar methods in a refusal that were registered just before", async () => {
  const runtime = await open();
  runtime.register(bigServer(1_000));
  const { violations } = runtime.check("await device.Garden.paint_fence({})");
  expect(JSON.stringify(violations)).toContain("FenceMCP.paint_");
  runtime.register({ ...bigServer(1_000, "mend"), name: "OtherMCP" });
  const outcome = await runtime.run("await device.Garden.mend_fence({})");
  expect(JSON.stringify(outcome)).toContain("OtherMCP.mend_");
});

test("indexes 16 more methods for a search without time, and continues there in the next one [X8]", () => {
  const registry = createRegistry();
  registry.register(bigServer(40));
  const read = (): unknown => search(registry.catalog, "paint", { deadline: 0 });
  for (const count of [16, 32]) expect(read).toThrow(`${count} of 40 methods are read so far`);
  expect(search(registry.catalog, "paint", { deadline: 0, limit: 100 }).results).toHaveLength(40);
});

test("finds no methods of a server that disconnects while it is indexed [X8]", () => {
  const registry = createRegistry();
  registry.register(bigServer(40));
  expect(() => search(registry.catalog, "paint", { deadline: 0 })).toThrow("16 of 40 methods are read so far");
  registry.unregister("FenceMCP");
  registry.register(bigServer(18, "mend"));
  expect(() => search(registry.catalog, "mend", { deadline: 0 })).toThrow("16 of 18 methods are read so far");
  const paths = search(registry.catalog, "fence", { limit: 100 }).results.map(({ path }) => path);
  expect(paths.toSorted()).toEqual(Array.from({ length: 18 }, (_, at) => `FenceMCP.mend_${at}`).toSorted());
});
