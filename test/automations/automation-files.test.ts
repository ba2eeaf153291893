import { mkdir, mkdtemp, rename, rm, symlink, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";

import { expect, onTestFinished, test } from "vitest";

import { openAutomationFiles } from "../../src/runtime/automations/automation-files.ts";

async function createFolder(): Promise<string> {
  const parent = await mkdtemp(join(tmpdir(), "skillgate-automation-files-"));
  onTestFinished(() => rm(parent, { recursive: true }));
  await mkdir(join(parent, "automations"));
  return join(parent, "automations");
}

async function write(folder: string, name: string): Promise<void> {
  const file = { description: "Posts", key: "poster", source: "return 1;" };
  await writeFile(join(folder, `${name}.yaml`), JSON.stringify(file));
}

test("finds files in a folder that was removed and created again", async () => {
  const folder = await createFolder();
  const files = openAutomationFiles(folder, { gate: undefined, warn: () => {}, lookMs: 50 });
  onTestFinished(files.watch(() => {}));
  await rename(folder, `${folder}-before`);
  await mkdir(folder);
  await write(folder, "report");
  await expect.poll(() => files.get("report")?.kind).toBe("file");
});

test("keeps its files when the folder cannot be read for a while", async () => {
  const folder = await createFolder();
  await write(folder, "report");
  const files = openAutomationFiles(folder, { gate: undefined, warn: () => {} });
  await files.refresh();
  // A link to itself is a folder that cannot be read, for every user.
  await rename(folder, `${folder}-before`);
  await symlink(folder, folder);
  await expect(files.refresh()).rejects.toThrow(/ELOOP/);
  expect(files.get("report")?.kind).toBe("file");
});
