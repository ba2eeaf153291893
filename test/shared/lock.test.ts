// @module-tag repeated

import { mkdtemp, readdir, readlink, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setImmediate as turn } from "node:timers/promises";

import { expect, onTestFinished, test } from "vitest";

import { withLock } from "../../src/shared/files/lock.ts";
import { repetitions } from "../support/repetitions.ts";

/** No process has this number: it is beyond the largest of Linux. */
const ENDED = 2 ** 22 + 1;

test("lets one holder in at a time after the process that held a lock was killed [P8]", { tags: "rest" }, async () => {
  const folder = await mkdtemp(join(tmpdir(), "skillgate-lock-"));
  onTestFinished(() => rm(folder, { recursive: true, force: true }));
  const file = join(folder, "lock");
  for (let round = 0; round < repetitions(4, 40); round++) {
    await writeFile(file, String(ENDED));
    let holders = 0;
    let most = 0;
    const hold = async (): Promise<void> => {
      most = Math.max(most, ++holders);
      for (let n = 0; n < 5; n++) await turn();
      expect(await readlink(file)).toBe(String(process.pid));
      holders--;
    };
    await Promise.all(Array.from({ length: 48 }, () => withLock(file, 5_000, hold)));
    expect(most).toBe(1);
  }
  expect(await readdir(folder)).toEqual([]);
});
