import { rm } from "node:fs/promises";
import { relative } from "node:path";

import { changeByHand, changeFile } from "../../../config/index.ts";
import { getAutomationFile } from "../file-contents.ts";
import type { AuthoringParts } from "./parts.ts";

/** Changes files on behalf of the owner: a trusted project stays trusted. */
export async function changeAsOwner(
  files: readonly string[],
  { cwd, env, trust }: Pick<AuthoringParts["settings"], "cwd" | "env" | "trust">,
  change: () => Promise<void>,
): Promise<void> {
  await (trust !== undefined ? changeByHand({ cwd, env }, { files }, change) : change());
}

/**
 * Writes files of automations on behalf of the owner, and removes those without a text. What `check` throws for the text before leaves
 * a file as it is.
 */
export async function writeFiles(
  texts: ReadonlyMap<string, string | undefined>,
  settings: AuthoringParts["settings"],
  check: (file: string, before: string | undefined) => void = () => {},
): Promise<void> {
  await changeAsOwner([...texts.keys()], settings, async () => {
    for (const [file, text] of texts)
      if (text === undefined) await rm(file, { force: true });
      else
        await changeFile(file, { label: relative(settings.cwd, file), isPrivate: false }, (before) => {
          check(file, before);
          return text;
        });
  });
}

export async function writeAutomation(name: string, text: string, settings: AuthoringParts["settings"]): Promise<void> {
  await writeFiles(new Map([[getAutomationFile(settings.automationsDir, name), text]]), settings);
}
