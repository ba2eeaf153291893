import { join } from "node:path";

import { isRecord } from "../../model/json.ts";
import { changeFile } from "../write-atomic.ts";
import { CLIENT_FILE_BYTES, readConfigFile } from "../read-file.ts";
import type { Environment } from "../variables.ts";
import type { ProjectParts } from "./digest.ts";

/** The user's decision about one project. */
export interface TrustRecord {
  /** The digests of the files that were trusted. */
  readonly files: ProjectParts;
  /** All files were trusted, so that a new file of the owner needs no question. */
  readonly isWhole: boolean;
  /** The last change of HEAD at that time, see `OwnChanges`. */
  readonly position: string;
  /** Digests of the outside values that servers received then: `TOKEN of MCP server github`. */
  readonly values: ProjectParts;
  /** The digests of the servers that were trusted. */
  readonly servers: ProjectParts;
  /** An earlier version has written it, which did not compare each file. */
  readonly isOutdated?: true;
}

export const NO_RECORD: TrustRecord = {
  files: new Map(),
  isWhole: false,
  position: "",
  values: new Map(),
  servers: new Map(),
};

/** The file in which trust is recorded: one of the user's own, that no project can bring along. */
export function trustFile(env: Environment, home: string): string {
  const state = env["XDG_STATE_HOME"] ?? (process.platform === "win32" ? env["LOCALAPPDATA"] : undefined);
  const folder = state === undefined || state === "" ? join(home, ".local", "state") : state;
  return join(folder, "skillgate", "trusted-projects.json");
}

/** The records of all projects, by their folders. A file that cannot be read trusts nothing. */
export async function readTrust(file: string): Promise<ReadonlyMap<string, TrustRecord>> {
  return parseTrust(await readConfigFile(file, file, { maxBytes: CLIENT_FILE_BYTES }).catch(() => undefined));
}

/** Changes what is recorded of one project; `undefined` removes it. */
export async function changeTrust(
  file: string,
  folder: string,
  change: (record: TrustRecord) => TrustRecord | undefined,
): Promise<void> {
  await changeFile(file, { label: file, isPrivate: true }, (text) => {
    const records = parseTrust(text);
    const changed = change(records.get(folder) ?? NO_RECORD);
    if (changed === undefined) records.delete(folder);
    else records.set(folder, changed);
    return `${JSON.stringify(Object.fromEntries([...records].map(written)), null, 2)}\n`;
  });
}

function written([folder, { files, isWhole, position, values, servers, isOutdated }]: readonly [
  string,
  TrustRecord,
]): readonly [string, unknown] {
  const maps = { values: Object.fromEntries(values), servers: Object.fromEntries(servers) };
  if (isOutdated) return [folder, { parts: {}, ...maps }];
  return [folder, { files: Object.fromEntries(files), isWhole, position, ...maps }];
}

function parseTrust(text: string | undefined): Map<string, TrustRecord> {
  const projects = Object.entries(recordIn(text)).map(([folder, record]) => [folder, parseRecord(record)] as const);
  return new Map(projects);
}

/** Records were written by this program: one with a mistake anywhere trusts nothing. */
function parseRecord(record: unknown): TrustRecord {
  if (!isRecord(record)) return NO_RECORD;
  const { isWhole, position } = record;
  const [files, values, servers] = [record["files"], record["values"], record["servers"]].map(parseDigests);
  if (record["parts"] !== undefined) return { ...NO_RECORD, servers: servers ?? new Map(), isOutdated: true };
  const isMissing = files === undefined || values === undefined || servers === undefined;
  if (isMissing || typeof isWhole !== "boolean" || typeof position !== "string") return NO_RECORD;
  return { files, isWhole, position, values, servers };
}

/** The most digests of one kind in a record: above those of all files that are looked at. */
const MAX_DIGESTS = 20_000;

function parseDigests(digests: unknown): ProjectParts | undefined {
  if (!isRecord(digests)) return undefined;
  const pairs = Object.entries(digests);
  const isDigest = (pair: readonly [string, unknown]): pair is [string, string] =>
    typeof pair[1] === "string" && /^[0-9a-f]{64}$/.test(pair[1]);
  return pairs.length <= MAX_DIGESTS && pairs.every(isDigest) ? new Map(pairs) : undefined;
}

function recordIn(text = "{}"): Readonly<Record<string, unknown>> {
  try {
    const value: unknown = JSON.parse(text);
    return isRecord(value) ? value : {};
  } catch {
    return {}; // a broken file trusts nothing, the next yes replaces it
  }
}
