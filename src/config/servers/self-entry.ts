import { basename } from "node:path";

import { isRecord } from "../../model/json.ts";
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
