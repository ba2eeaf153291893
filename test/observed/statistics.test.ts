import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, onTestFinished, test, vi } from "vitest";

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

test("has written all counts when it is closed, also those of a write that has begun [X6]", async () => {
  vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout"] });
  onTestFinished(() => void vi.useRealTimers());
  const folder = mkdtempSync(join(tmpdir(), "skillgate-statistics-"));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  const failures: unknown[] = [];
  const statistics = createLastingStatistics(createStore(folder), (error) => failures.push(error));
  for (const path of PATHS) statistics.add({ ...ENTRY, path });
  vi.advanceTimersToNextTimer();
  vi.useRealTimers();
  await statistics.close();
  const stored = await createStore(folder).space("statistics").entries();
  expect([stored.length, failures]).toEqual([PATHS.length, []]);
});
