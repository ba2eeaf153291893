// @module-tag rest

import { readFileSync } from "node:fs";
import { readdir, utimes, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";

import { expect, onTestFinished, test } from "vitest";

import { SkillsFolder } from "../../../src/providers/skills/folder.ts";
import { SkillProcessPool } from "../../../src/providers/skills/process-pool.ts";
import { openCache } from "../../../src/providers/skills/load/cache.ts";
import { repetitions } from "../../support/repetitions.ts";
import { call, temporaryFolder, writeFiles } from "./call.ts";

const RELOADS = repetitions(400, 400, 1_000);

/** Bytes of the heap that are still referenced. */
function heldBytes(): number {
  setFlagsFromString("--expose-gc");
  const collect = runInNewContext("gc") as () => void;
  collect();
  collect();
  return process.memoryUsage().heapUsed;
}

/** Counts the children of a process on Linux; returns 0 elsewhere. */
function countChildren(pid: number): number {
  try {
    return readFileSync(`/proc/${pid}/task/${pid}/children`, "utf8").trim().split(" ").length;
  } catch {
    return 0;
  }
}

test("releases memory, files and processes over hundreds of reloads [L6]", { timeout: 240_000 }, async () => {
  const folder = await temporaryFolder();
  const root = join(folder, "skills");
  await writeFiles(root, { "beside.ts": "export const beside = () => 'beside';" });
  const homes = new SkillProcessPool(
    { root, log: () => undefined, importTimeoutMs: 10_000, memoryBytes: 256 << 20 },
    [],
  );
  onTestFinished(() => homes.close());
  const skills = new SkillsFolder({ dir: root, only: undefined }, await openCache(join(folder, "cache")), {
    root,
    processes: homes,
  });
  const pids = new Set<unknown>();
  let heldAtFirst = 0;
  for (let number = 1; number <= RELOADS; number++) {
    const text = `// ${number}\nconst held = new Array(20_000).fill(${number});\nexport const state = () => [held[0], process.pid];`;
    await writeFile(join(root, "state.ts"), text);
    await skills.refresh();
    const [state, pid] = (await call(skills.contents, "StateSkill.state")) as [number, number];
    expect(state).toBe(number);
    pids.add(pid);
    if (number === RELOADS / 4) heldAtFirst = heldBytes();
  }
  expect(await call(skills.contents, "BesideSkill.beside")).toBe("beside");
  expect(heldBytes() - heldAtFirst).toBeLessThan(4 << 20);
  // A new one after every 200 of them: what was imported stays in memory as long as its process lives.
  expect(pids.size).toBeGreaterThanOrEqual(RELOADS / 200);
  expect(pids.size).toBeLessThanOrEqual(2 + RELOADS / 200);
  // The one of the skills, and that of the compiler.
  await expect.poll(() => countChildren(process.pid), { timeout: 5_000 }).toBeLessThanOrEqual(2);
});

test("deletes unreferenced bundles from the cache after a week, and looks for them once a day [L6]", async () => {
  const folder = await temporaryFolder();
  const cacheDir = join(folder, "cache");
  const skills = join(folder, "skills");
  const save = async (text: string): Promise<void> => {
    await writeFiles(skills, { "a.ts": text });
    const opened = await openCache(cacheDir);
    const homes = new SkillProcessPool(
      { root: skills, log: () => undefined, importTimeoutMs: 10_000, memoryBytes: 256 << 20 },
      [],
    );
    // A file that was written just now may change again: what is made of it is not kept.
    await utimes(join(skills, "a.ts"), new Date(0), new Date(Number(/\d+/.exec(text)) * 1_000));
    await new SkillsFolder({ dir: skills, only: undefined }, opened, { root: skills, processes: homes }).refresh();
    await homes.close();
    await opened.close();
  };
  await save("export const get = () => 1;");
  const old = (await readdir(cacheDir)).find((name) => /\.[cm]js$/.test(name)) ?? "";
  const lastWeek = new Date(Date.now() - 8 * 24 * 3_600_000);
  await utimes(join(cacheDir, old), lastWeek, lastWeek);
  const bundles = async (): Promise<readonly string[]> =>
    (await readdir(cacheDir)).filter((name) => /\.[cm]js$/.test(name));
  await save("export const get = () => 2;");
  expect(await bundles()).toContain(old);
  const yesterday = new Date(Date.now() - 25 * 3_600_000);
  await utimes(join(cacheDir, "pruned"), yesterday, yesterday);
  await save("export const get = () => 3;");
  expect(await bundles()).not.toContain(old);
  expect(await bundles()).toHaveLength(2);
});
