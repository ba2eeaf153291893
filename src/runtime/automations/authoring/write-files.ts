import { rm } from "node:fs/promises";
import { relative } from "node:path";

import { changeByHand, changeFile } from "../../../config/index.ts";
import { getAutomationFile } from "../automation-files.ts";
import type { AuthoringParts } from "./parts.ts";

/** Writes files of automations on behalf of the owner, and removes those without a text. A trusted project stays trusted. */
export async function writeFiles(
  texts: ReadonlyMap<string, string | undefined>,
  { cwd, env, trust }: AuthoringParts["settings"],
): Promise<void> {
  const write = async (): Promise<void> => {
    for (const [file, text] of texts)
      if (text === undefined) await rm(file, { force: true });
      else await changeFile(file, { label: relative(cwd, file), isPrivate: false }, () => text);
  };
  await (trust !== undefined ? changeByHand({ cwd, env }, { files: [...texts.keys()] }, write) : write());
}

export async function writeAutomation(name: string, text: string, settings: AuthoringParts["settings"]): Promise<void> {
  await writeFiles(new Map([[getAutomationFile(settings.automationsDir, name), text]]), settings);
}
