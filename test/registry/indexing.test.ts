import { setImmediate } from "node:timers/promises";

import { expect, onTestFinished, test } from "vitest";

import { createRuntime, type Runtime } from "../../src/index.ts";
import { OWNER } from "../../src/model/caller.ts";
import type { Catalog } from "../../src/model/catalog.ts";
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

test(
  "lets the event loop turn while a search indexes the 5,000 methods of one server [S13]",
  { tags: "rest" },
  async () => {
    const runtime = await open();
    runtime.register(bigServer(5_000));
    const found = searchSkills(runtime.viewFor(OWNER), { query: "paint fence 4999" });
    expect(await countTurns(found)).toBeGreaterThan(4);
    expect((await found).results[0]?.path).toBe("FenceMCP.paint_4999");
  },
);

test("shares one slice of indexing in each turn among concurrent searches [S13]", { tags: "rest" }, async () => {
  const runtime = await open();
  runtime.register(bigServer(2_000));
  const searches = Array.from({ length: 20 }, () =>
    searchSkills(runtime.viewFor(OWNER), { query: "paint fence 1999" }),
  );
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

test("names similar methods in a refusal that were registered just before", { tags: "rest" }, async () => {
  const runtime = await open();
  runtime.register(bigServer(1_000));
  const { violations } = runtime.check("await device.Garden.paint_fence({})");
  expect(JSON.stringify(violations)).toContain("FenceMCP.paint_");
  runtime.register({ ...bigServer(1_000, "mend"), name: "OtherMCP" });
  const outcome = await runtime.run("await device.Garden.mend_fence({})");
  expect(JSON.stringify(outcome)).toContain("OtherMCP.mend_");
});

/** A search without time to index: each indexes 16 more methods. */
function searchAtOnce(catalog: Catalog, query: string) {
  const { results, searched, text } = search(catalog, query, { deadline: 0, limit: 100, maxTokens: 10_000 });
  return { paths: results.map(({ path }) => path), searched, lines: text.split("\n") };
}

test("answers from the methods that are indexed, and says how many those are [D1]", () => {
  const registry = createRegistry();
  registry.register(bigServer(40));
  const note = "methods; the index is still being built. Search again to search the others";
  for (const count of [16, 32]) {
    const { paths, searched, lines } = searchAtOnce(registry.catalog, "paint");
    expect(paths.toSorted()).toEqual(Array.from({ length: count }, (_, at) => `FenceMCP.paint_${at}`).toSorted());
    expect(searched).toEqual({ methods: count, of: 40 });
    expect([lines[0], lines.at(-1)]).toEqual([`Found ${count} result(s):`, `Searched ${count} of 40 ${note}`]);
  }
  const { paths, searched, lines } = searchAtOnce(registry.catalog, "paint");
  expect([paths.length, searched, lines.length]).toEqual([40, undefined, 41]);
});

test("does not call a method missing while methods are left to search [D1]", () => {
  const registry = createRegistry();
  registry.register(bigServer(1_234));
  expect(searchAtOnce(registry.catalog, "zebra").lines).toEqual([
    "No results found",
    "Skills: FenceMCP",
    "Search again with two to four English words that a tool's author would use: a verb and a thing, one intent a search",
    "Searched 16 of 1,234 methods; the index is still being built. Search again to search the others",
  ]);
  expect(searchAtOnce(registry.catalog, "zebra garden").lines.join("\n")).not.toContain("Probably no method does this");
});

test("reads a server again whose methods are partly indexed when the index is compacted [X8]", () => {
  const registry = createRegistry();
  registry.register({ ...bigServer(2_100, "mend"), name: "OldMCP" });
  expect(search(registry.catalog, "mend 2099", { limit: 1 }).results[0]?.path).toBe("OldMCP.mend_2099");
  registry.register(bigServer(40));
  expect(searchAtOnce(registry.catalog, "paint").paths).toHaveLength(16);
  registry.unregister("OldMCP");
  expect(searchAtOnce(registry.catalog, "fence").searched).toEqual({ methods: 16, of: 40 });
  expect(search(registry.catalog, "fence", { limit: 100 }).results).toHaveLength(40);
});

test("counts only methods that the caller may read among those searched [D1]", () => {
  const registry = createRegistry();
  registry.register(bigServer(40));
  const view = registry.viewFor({ id: "ada", permissions: ["call:FenceMCP.paint_1*"] });
  expect(searchAtOnce(view, "paint").searched).toEqual({ methods: 7, of: 11 });
  expect(searchAtOnce(view, "paint").searched).toBeUndefined();
});

test("answers a search that waited for the index as long as it may [D1]", { tags: "rest" }, async () => {
  const runtime = await createRuntime({ skillsDir: false, workers: 1, typecheck: false, timeouts: { discoveryMs: 1 } });
  onTestFinished(() => runtime.close());
  for (let at = 0; at < 1_000; at++) runtime.register({ ...bigServer(50, `paint${at}`), name: `Fence${at}MCP` });
  const first = await searchSkills(runtime.viewFor(OWNER), { query: "paint fence 7" });
  expect(first.searched?.of).toBe(50_000);
  expect(first.text).toMatch(/^Searched [\d,]+ of 50,000 methods; the index is still being built\. /m);
  expect((await runtime.run('return await device.search_skills("paint fence 7")')).text).toMatch(/of 50,000 methods/);
  while (!isIndexed(runtime.catalog)) await setImmediate();
  const last = await searchSkills(runtime.viewFor(OWNER), { query: "paint fence 7" });
  expect([last.searched, last.text.includes("Searched")]).toEqual([undefined, false]);
});

test("finds no methods of a server that disconnects while it is indexed [X8]", () => {
  const registry = createRegistry();
  registry.register(bigServer(40));
  expect(searchAtOnce(registry.catalog, "paint").paths).toHaveLength(16);
  registry.unregister("FenceMCP");
  registry.register(bigServer(18, "mend"));
  const { paths: first, searched } = searchAtOnce(registry.catalog, "fence");
  expect([first.filter((path) => !path.startsWith("FenceMCP.mend_")), searched]).toEqual([[], { methods: 16, of: 18 }]);
  const paths = search(registry.catalog, "fence", { limit: 100 }).results.map(({ path }) => path);
  expect(paths.toSorted()).toEqual(Array.from({ length: 18 }, (_, at) => `FenceMCP.mend_${at}`).toSorted());
});
