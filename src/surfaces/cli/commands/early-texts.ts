import { join } from "node:path";

import { isRecord } from "../../../model/json.ts";
import type { KnownServer } from "../../../providers/mcp/known-server.ts";
import { createFileCache } from "../../../shared/file-cache.ts";
import { getProjectStateDir } from "../../../shared/files/project-state-dir.ts";
import { VERSION } from "../../../shared/version.ts";
import {
  CLIENT_NAMES,
  type Expose,
  getClientLimits,
  getFirstTexts,
  type OpeningTexts,
} from "../../mcp/opening/index.ts";

/** The texts that clients are sent before the program is loaded. */
export interface EarlyTexts {
  /** Returns the texts of the last start if there was one; `undefined` if they are not known yet. */
  readonly getTexts: (clientName: string) => OpeningTexts | undefined;
  /** Stores the texts for a client, for the next start of the same command in the folder. */
  readonly store: (clientName: string, texts: OpeningTexts) => void;
}

interface EarlyTextsOptions {
  readonly expose: Expose | undefined;
  readonly readServers: () => Promise<readonly KnownServer[]>;
}

/**
 * Opens the texts of a command line in a folder. `expose` is `undefined` if it is not known yet. The servers are read for a
 * first start only.
 */
export async function openEarlyTexts(
  folder: string,
  args: readonly string[],
  { expose, readServers }: EarlyTextsOptions,
): Promise<EarlyTexts> {
  const cache = createFileCache(join(getProjectStateDir(folder), "opening"));
  const getKey = (clientName: string): string => JSON.stringify([VERSION, args, expose, getClientLimits(clientName)]);
  const getStored = (clientName: string): OpeningTexts | undefined => parseTexts(cache.get(getKey(clientName)));
  const isFirst = expose !== undefined && CLIENT_NAMES.some((name) => getStored(name) === undefined);
  const servers = isFirst ? await readServers() : [];
  return {
    getTexts: (clientName) => getStored(clientName) ?? (expose && getFirstTexts(expose, servers)),
    store: (clientName, texts) => void cache.set(getKey(clientName), texts),
  };
}

function parseTexts(stored: unknown): OpeningTexts | undefined {
  const isValid = isRecord(stored) && typeof stored["instructions"] === "string" && Array.isArray(stored["tools"]);
  return isValid ? (stored as unknown as OpeningTexts) : undefined;
}
