import { existsSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

import { expect, onTestFinished, test } from "vitest";

import { createRuntime } from "../../src/runtime.ts";

test("opens the database of a runtime at its first use, once", async () => {
  const store = mkdtempSync(join(tmpdir(), "skillgate-lazy-"));
  onTestFinished(() => rmSync(store, { recursive: true, force: true }));
  await using runtime = await createRuntime({ skillsDir: false, workers: 1, store });
  await runtime.run("1 + 1");
  expect(existsSync(join(store, "skillgate.db"))).toBe(false);
  const [one, other] = await Promise.all([runtime.database(), runtime.database()]);
  expect(one).toBe(other);
  expect(one.place).toBe(join(store, "skillgate.db"));
});
