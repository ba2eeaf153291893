import { existsSync } from "node:fs";
import { join } from "node:path";

import { getAutomationFile } from "../automation-files.ts";
import { createUnknownError } from "../life.ts";
import type { AuthoringParts } from "./parts.ts";
import { getCassetteName } from "./save.ts";
import { writeFiles } from "./write-files.ts";

/** An automation that was removed with its history. */
export interface RemovedAutomation {
  readonly name: string;
  /** The files that were deleted. Absolute. */
  readonly files: readonly string[];
}

/** Removes an automation or a proposal: what the store has of it, and its files. Throws `AUTOMATION_UNKNOWN`. */
export async function removeAutomation(name: string, parts: AuthoringParts): Promise<RemovedAutomation> {
  const { files, settings, open } = parts;
  const { automationsDir: folder } = settings;
  await files.refresh();
  const { automations } = await open();
  const entry = files.get(name);
  const row = await automations.get(name);
  if (entry === undefined && row === undefined) {
    const stored = (await automations.list()).map((each) => each.name);
    throw createUnknownError(name, [...new Set([...files.list().map((each) => each.name), ...stored])]);
  }
  // Without its row nothing of it begins, also if a file cannot be deleted.
  await automations.delete(name);
  const own = entry === undefined ? [] : [getAutomationFile(folder, name), join(folder, getCassetteName(name))];
  const existing = own.filter((file) => existsSync(file));
  if (existing.length > 0) await writeFiles(new Map(existing.map((file) => [file, undefined])), settings);
  await files.refresh();
  return { name, files: existing };
}
