import { existsSync } from "node:fs";
import { join } from "node:path";

import { getAutomationFile } from "../file-contents.ts";
import { createUnknownError } from "../life.ts";
import type { AuthoringParts } from "./parts.ts";
import { getCassetteName } from "./save.ts";
import { writeFiles } from "./write-files.ts";

/** An automation that was removed with its history. */
export interface RemovedAutomation {
  readonly name: string;
  /** The files that were deleted. Absolute. */
  readonly files: readonly string[];
  /** The number of values of `device.store` that were deleted. */
  readonly values: number;
}

/**
 * Removes an automation or a proposal: its files, and what the store has of it, which includes the values of its programs. Also
 * deletes the values of an automation whose file was deleted by hand. Throws `AUTOMATION_UNKNOWN`.
 */
export async function removeAutomation(name: string, parts: AuthoringParts): Promise<RemovedAutomation> {
  const { files, settings, open, programStore } = parts;
  const { automationsDir: folder } = settings;
  await files.refresh();
  const { automations } = await open();
  const entry = files.get(name);
  const row = await automations.get(name);
  const isKnown = entry !== undefined || row !== undefined;
  // Without its row nothing of it begins, also if a file cannot be deleted.
  if (row !== undefined) await automations.delete(name);
  const values = await programStore.deleteAll(name);
  if (!isKnown && values === 0) {
    const stored = (await automations.list()).map((each) => each.name);
    throw createUnknownError(name, [...new Set([...files.list().map((each) => each.name), ...stored])]);
  }
  const own = entry === undefined ? [] : [getAutomationFile(folder, name), join(folder, getCassetteName(name))];
  const existing = own.filter((file) => existsSync(file));
  if (existing.length > 0) await writeFiles(new Map(existing.map((file) => [file, undefined])), settings);
  await files.refresh();
  return { name, files: existing, values };
}
