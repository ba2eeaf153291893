import { basename, resolve } from "node:path";

import { isRecord } from "../../model/json.ts";
import { canonicalPath } from "../read-file.ts";
import { getCommandWords } from "./entry-keys.ts";

/** True for an entry that starts Skillgate's own server: as one of its own servers it would start itself without end. */
export function isSelfEntry(entry: unknown): boolean {
  if (!isRecord(entry)) return false;
  const words = getCommandWords(entry);
  const isNamed = words.some((word) => OWN_NAME.test(basename(word)) || OWN_BIN.test(word.replaceAll("\\", "/")));
  return isNamed && words.includes("serve");
}

const OWN_NAME = /^skillgate(?:@[\w.-]+)?(?:\.cmd|\.exe)?$/;
const OWN_BIN = /(?:^|\/)dist\/src\/bin\.js$/;

/** True if the entry names another folder, whose servers and skills a user may expect here. */
export function startsElsewhere(entry: unknown, cwd: string): boolean {
  if (!isRecord(entry)) return false;
  const words = getCommandWords(entry);
  const option = words.indexOf("--folder");
  const folder = option < 0 ? entry["cwd"] : words[option + 1];
  return typeof folder === "string" && canonicalPath(resolve(cwd, folder)) !== canonicalPath(cwd);
}

export function describeOtherFolder(name: string): string {
  return `MCP server '${name}' is left out: it starts Skillgate in another folder; declare the servers of that folder here`;
}
