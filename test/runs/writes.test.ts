import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

import { expect, onTestFinished, test } from "vitest";

import { createRuntime, defineSkill, type Runtime } from "../../src/index.ts";
import { encodeEntry } from "../../src/runs/encode-entry.ts";
import type { RunEntryRow } from "../../src/store/index.ts";

test("writes nothing about a program that could have had an effect, and only reads [R1]", async () => {
  const store = mkdtempSync(join(tmpdir(), "skillgate-runs-"));
  onTestFinished(() => rmSync(store, { recursive: true, force: true }));
  const ShopSkill = defineSkill({
    name: "ShopSkill",
    description: "Orders of a shop",
    methods: {
      count: { description: "Count the orders", readOnly: true, run: () => 2 },
      clear: { description: "Delete the orders", destructive: true, run: () => "cleared" },
    },
  });
  const runtime = await createRuntime({ skillsDir: false, skills: [ShopSkill], store, workers: 1 });
  onTestFinished(() => runtime.close());
  const source = (most: number): string => `
    const count = await device.ShopSkill.count();
    count > ${most} ? await device.ShopSkill.clear() : count`;
  expect(await runtime.run(source(5))).toMatchObject({ kind: "completed", value: 2 });
  expect(await runtime.runs.list()).toEqual([]);
  expect(await runtime.run(source(1))).toMatchObject({ kind: "completed", value: "cleared" });
  expect(await runtime.runs.list()).toMatchObject([{ state: "completed", calls: 2, effects: 1 }]);
});

/**
 * Opens a runtime whose `PageSkill.publish` has an effect and returns 300 KB. `whenAllCame` resolves when a program has ten of
 * them and has called `confirm`, which has no effect.
 */
async function openPages(): Promise<{ runtime: Runtime; whenAllCame: Promise<void> }> {
  const published = createGate();
  const came = createGate();
  let count = 0;
  const publish = async (): Promise<string> => {
    if (++count === 10) published.open();
    await published.whenOpen; // so that all answers come at once
    return "x".repeat(300_000);
  };
  const store = mkdtempSync(join(tmpdir(), "skillgate-runs-"));
  onTestFinished(() => rmSync(store, { recursive: true, force: true }));
  const PageSkill = defineSkill({
    name: "PageSkill",
    description: "Pages",
    methods: {
      publish: { description: "Publish a page", run: publish },
      confirm: { description: "Confirm that all pages came", readOnly: true, run: came.open },
    },
  });
  const runtime = await createRuntime({ skillsDir: false, skills: [PageSkill], store, workers: 1, typecheck: false });
  onTestFinished(() => runtime.close());
  return { runtime, whenAllCame: came.whenOpen };
}

function createGate(): { readonly whenOpen: Promise<void>; readonly open: () => void } {
  let open = (): void => {};
  const whenOpen = new Promise<void>((resolve) => (open = resolve));
  return { whenOpen, open };
}

const TEN_PAGES = `
  const pages = await Promise.all(Array.from({ length: 10 }, () => device.PageSkill.publish()));
  await device.PageSkill.confirm();
  pages.length`;

test("writes long answers that come at once in several entries, the state with the last [R1]", async () => {
  const { runtime } = await openPages();
  const { runId } = await runtime.run(TEN_PAGES);
  const { runs } = await runtime.database();
  const entries = await runs.entries(runId);
  expect(entries.filter(({ events }) => events.length > 300_000).length).toBeGreaterThan(3);
  expect(Math.max(...entries.map(({ events }) => events.length))).toBeLessThan(1_200_000);
  expect(entries.at(-1)?.events).toContain('"type":"outcome"');
  expect(await runs.get(runId)).toMatchObject({ state: "completed", calls: 11, effects: 10 });
  expect(await runtime.runs.replay(runId)).toMatchObject({ kind: "completed", value: 10 });
});

test("writes the rest of a run after a failure between two of its entries, and each event once [R1]", async () => {
  const { runtime, whenAllCame } = await openPages();
  const { runs } = await runtime.database();
  const append = runs.append.bind(runs);
  let longEntries = 0;
  Object.assign(runs, {
    append: async (entry: RunEntryRow) => {
      if (entry.events.length < 300_000) return append(entry);
      const number = ++longEntries;
      // The others come while the first is written, and are written together.
      if (number === 1) await whenAllCame;
      if (number === 2) throw new Error("disk full");
      return append(entry);
    },
  });
  const { runId } = await runtime.run(TEN_PAGES);
  await expect.poll(async () => (await runs.get(runId))?.state).toBe("completed");
  expect(longEntries).toBeGreaterThan(4);
  const events = (await runs.entries(runId)).flatMap((entry) => JSON.parse(entry.events) as { type: string }[]);
  expect(events.filter(({ type }) => type === "end")).toHaveLength(11);
  expect(events.at(-1)?.type).toBe("outcome");
  expect(await runtime.runs.replay(runId)).toMatchObject({ kind: "completed", value: 10 });
});

test.each([
  ["results", { ok: true, json: JSON.stringify("x".repeat(300_000)) }],
  ["errors with data", { ok: false, error: { name: "CallError", code: "CALL_FAILED", data: ["x".repeat(300_000)] } }],
] as const)("fills an entry with long %s, and ends it with the event that makes it long [R1]", (_title, answer) => {
  const events = Array.from(
    { length: 5 },
    (_, id) => ({ type: "end", id, answer, digest: "", durationMs: 1, notes: [], time: 1 }) as const,
  );
  const { count, json } = encodeEntry(events, { omitsAnswers: false });
  expect(count).toBe(2);
  expect(json).toBe(JSON.stringify(events.slice(0, 2)));
  const omitted = encodeEntry(events, { omitsAnswers: true });
  expect(omitted.count).toBe(5);
  expect(omitted.json).not.toContain("xxx");
});
