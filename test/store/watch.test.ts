import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, expect, onTestFinished, test, vi } from "vitest";

import { type Database, openDatabase } from "../../src/store/index.ts";

afterEach(() => void vi.useRealTimers());

async function openTwo(): Promise<readonly [Database, Database]> {
  const folder = mkdtempSync(join(tmpdir(), "skillgate-watch-"));
  const [one, other] = [await openDatabase({ folder }), await openDatabase({ folder })];
  onTestFinished(async () => {
    await Promise.all([one.close(), other.close()]);
    rmSync(folder, { recursive: true, force: true });
  });
  return [one, other];
}

/** A question that is stored, of a run without other facts. */
const QUESTION = {
  id: "q",
  runId: "r",
  callId: 1,
  caller: "local",
  path: "S.do",
  description: "",
  marks: [],
  approver: "user",
  arguments: [],
  digest: "d",
  plan: null,
  provenance: null,
  scopes: [],
  waiter: null,
  created: 1,
  expires: 2,
} as const;

test("a SQLite store reports the write of another connection without a timer", async () => {
  // The timer that finds changes without an event never fires.
  vi.useFakeTimers({ toFake: ["setInterval", "clearInterval"] });
  const [one, other] = await openTwo();
  const listener = vi.fn<() => void>();
  one.watch(listener);
  await other.approvals.add(QUESTION);
  await expect.poll(() => listener.mock.calls.length).toBeGreaterThan(0);
});

test("a SQLite store reports the write of another connection by its timer, where the system reports no event", async () => {
  const [one, other] = await openTwo();
  const listener = vi.fn<() => void>();
  vi.useFakeTimers({ toFake: ["setInterval", "clearInterval", "setTimeout", "clearTimeout"] });
  one.watch(listener);
  await other.approvals.add(QUESTION);
  expect(listener).not.toHaveBeenCalled();
  vi.advanceTimersByTime(2_000);
  expect(listener).toHaveBeenCalled();
});
