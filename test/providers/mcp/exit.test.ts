// @module-tag rest

import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { copyFile, mkdtemp, rm } from "node:fs/promises";
import { join } from "node:path";

import { build } from "esbuild";
import { afterAll, beforeAll, expect, test } from "vitest";

import { ended, isAlive, ROOT } from "../../support/mcp/servers.ts";

let folder: string;
beforeAll(async () => {
  // In node_modules, so that the packages that it imports are found.
  folder = await mkdtemp(join(ROOT, "node_modules", ".host-"));
  // The program reads its version from the package that it belongs to.
  await copyFile(join(ROOT, "package.json"), join(folder, "package.json"));
  const options = { bundle: true, packages: "external", platform: "node", format: "esm" } as const;
  await build({ ...options, entryPoints: ["test/fixtures/mcp/host.ts"], outfile: join(folder, "host.mjs") });
});
afterAll(() => rm(folder, { recursive: true }));

test.each([
  ["exit", 0],
  ["throw", 1],
])("ends all servers of a process that ends by %s [M9]", async (way, code) => {
  const { host, pids } = await start(way);
  expect(await once(host, "close")).toEqual([code, null]);
  await Promise.all(pids.map(ended));
});

test("kills servers of a killed process at the next start [M9]", async () => {
  const { host, pids } = await start("wait");
  host.kill("SIGKILL");
  await once(host, "close");
  expect(pids.map(isAlive)).toEqual([true, true, true]);
  await start("exit");
  await Promise.all(pids.map(ended));
});

test("leaves servers of a living process running until that process closes at a signal [M9]", async () => {
  const { host, pids } = await start("wait");
  await start("exit");
  expect(pids.map(isAlive)).toEqual([true, true, true]);
  host.kill("SIGTERM");
  expect(await once(host, "close")).toEqual([143, null]);
  await Promise.all(pids.map(ended));
});

async function start(way: string): Promise<{ readonly host: ChildProcess; readonly pids: readonly number[] }> {
  // With a folder of its own for what it writes down, so that no other test meddles.
  const env = { ...process.env, TMPDIR: folder };
  const host = spawn(process.execPath, [join(folder, "host.mjs"), way], {
    cwd: ROOT,
    env,
    stdio: ["ignore", "pipe", "ignore"],
  });
  const [line] = (await once(host.stdout, "data")) as [Buffer];
  const pids = JSON.parse(line.toString()) as readonly number[];
  expect(pids).toEqual([expect.any(Number), expect.any(Number), expect.any(Number)]);
  return { host, pids };
}
