import { hash } from "node:crypto";
import { relative } from "node:path";

import { createAutomationError, parseAutomationFile } from "../../../automations/index.ts";
import { changeFile } from "../../../config/index.ts";
import { getMessage } from "../../../errors.ts";
import { getAutomationFile, readRegularFile } from "../file-contents.ts";
import { createHeldError, createUnknownError } from "../life.ts";
import type { AuthoringParts } from "./parts.ts";
import { changeAsOwner } from "./write-files.ts";

/** The file of an automation as a person edits it. */
export interface AutomationText {
  readonly text: string;
  /** SHA-256 of the text. */
  readonly digest: string;
}

type EditParts = Pick<AuthoringParts, "files" | "settings">;

/** Reads the file of an automation, also one that cannot be used. Throws `AUTOMATION_UNKNOWN`, `AUTOMATION_INVALID`. */
export async function readAutomationText(name: string, { files, settings }: EditParts): Promise<AutomationText> {
  await files.refresh();
  if (files.get(name) === undefined) throw createUnknownError(name, files.listNames());
  const text = await readRegularFile(getAutomationFile(settings.automationsDir, name)).catch((error: unknown) => {
    throw createAutomationError(`${name}.yaml: ${getMessage(error)}`);
  });
  return { text, digest: hash("sha256", text) };
}

/**
 * Replaces the file of an automation if its text still has a digest. An accepted automation is held until it is accepted again.
 * Throws `AUTOMATION_UNKNOWN`, `AUTOMATION_INVALID` with the line of a mistake, and `AUTOMATION_HELD` for a file that has changed.
 */
export async function replaceAutomationText(
  name: string,
  { text, digest }: AutomationText,
  { files, settings }: EditParts,
): Promise<void> {
  await readAutomationText(name, { files, settings });
  parseAutomationFile(name, text);
  const file = getAutomationFile(settings.automationsDir, name);
  const label = relative(settings.cwd, file);
  await changeAsOwner([file], settings, () =>
    changeFile(file, { label, isPrivate: false }, (before) => {
      if (before !== undefined && hash("sha256", before) === digest) return text;
      throw createHeldError(`${name}: its file was changed meanwhile; look at it again`);
    }),
  );
  await files.refresh();
}
