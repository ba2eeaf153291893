import { mkdtempSync, readdirSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, onTestFinished, test, vi } from "vitest";

import { StoredResults } from "../../src/observed/stored-results.ts";
import { createLastingStatistics } from "../../src/runtime/statistics.ts";
import { createStore } from "../../src/store/index.ts";

const PATHS = Array.from({ length: 20 }, (_, id) => `MathSkill.add${id}`);

const ENTRY = {
  time: 0,
  runId: "run-1",
  callId: 1,
  caller: "owner",
  argumentsDigest: "",
  decision: "allowed",
  outcome: "ok",
  cached: false,
  durationMs: 1,
} as const;

function makeFolder(): string {
  const folder = mkdtempSync(join(tmpdir(), "skillgate-statistics-"));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  return folder;
}

test("has written all counts when it is closed, also those of a write that has begun [X6]", async () => {
  vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout"] });
  onTestFinished(() => void vi.useRealTimers());
  const folder = makeFolder();
  const failures: unknown[] = [];
  const statistics = createLastingStatistics(createStore(folder), (error) => failures.push(error));
  for (const path of PATHS) statistics.add({ ...ENTRY, path });
  vi.advanceTimersToNextTimer();
  vi.useRealTimers();
  await statistics.close();
  const stored = await createStore(folder).space("statistics").entries();
  expect([stored.length, failures]).toEqual([PATHS.length, []]);
});

test("does not write a call that ends after the runtime [X6]", async () => {
  vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout"] });
  onTestFinished(() => void vi.useRealTimers());
  const folder = makeFolder();
  const statistics = createLastingStatistics(createStore(folder), () => {});
  await statistics.close();
  statistics.add({ ...ENTRY, path: "MathSkill.add" });
  expect([vi.getTimerCount(), readdirSync(folder)]).toEqual([0, []]);
});

test("does not store the shape of a result that comes after the runtime ended [D3]", () => {
  vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout"] });
  onTestFinished(() => void vi.useRealTimers());
  const cache = { get: () => undefined, set: () => {} };
  const stored = new StoredResults({ cache, getKey: (skill) => skill, listSkills: () => [], warn: () => {} }, () => []);
  stored.changed("MathSkill");
  expect(vi.getTimerCount()).toBe(1);
  stored.close();
  stored.changed("MathSkill");
  expect(vi.getTimerCount()).toBe(0);
});
