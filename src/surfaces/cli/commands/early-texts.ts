import { join } from "node:path";

import { isRecord } from "../../../model/json.ts";
import { createFileCache } from "../../../shared/file-cache.ts";
import { getProjectStateDir } from "../../../shared/files/project-state-dir.ts";
import { VERSION } from "../../../shared/version.ts";
import { type Expose, getClientLimits, getFirstTexts, type OpeningTexts } from "../../mcp/opening/index.ts";

/** The texts that clients are sent before the program is loaded. */
export interface EarlyTexts {
  /** Returns the texts of the last start if there was one; `undefined` if they are not known yet. */
  readonly getTexts: (clientName: string) => OpeningTexts | undefined;
  /** Stores the texts for a client, for the next start of the same command in the folder. */
  readonly store: (clientName: string, texts: OpeningTexts) => void;
}

/** Opens the texts of a command line in a folder. `expose` is `undefined` if it is not known yet. */
export function openEarlyTexts(folder: string, args: readonly string[], expose: Expose | undefined): EarlyTexts {
  const cache = createFileCache(join(getProjectStateDir(folder), "opening"));
  const getKey = (clientName: string): string => JSON.stringify([VERSION, args, expose, getClientLimits(clientName)]);
  return {
    getTexts: (clientName) => parseTexts(cache.get(getKey(clientName))) ?? (expose && getFirstTexts(expose)),
    store: (clientName, texts) => void cache.set(getKey(clientName), texts),
  };
}

function parseTexts(stored: unknown): OpeningTexts | undefined {
  const isValid = isRecord(stored) && typeof stored["instructions"] === "string" && Array.isArray(stored["tools"]);
  return isValid ? (stored as unknown as OpeningTexts) : undefined;
}
