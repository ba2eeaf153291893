import { join } from "node:path";

import { isRecord } from "../../model/json.ts";
import { changeFile } from "../write-atomic.ts";
import { CLIENT_FILE_BYTES, readConfigFile } from "../read-file.ts";
import type { Environment } from "../variables.ts";
import type { ProjectParts } from "./digest.ts";

/** The user's decision about one project. */
export interface TrustRecord {
  /** The parts of the project when all of it was trusted; `undefined` if it never was. */
  readonly parts: ProjectParts | undefined;
  /** The last change of HEAD when all of it was trusted, see `OwnChanges`; `undefined` if each change is asked about. */
  readonly position?: string | undefined;
  /** Digests of the outside values that its servers received then: `TOKEN of MCP server github`. */
  readonly values: ProjectParts;
  /** Servers that the user has written by hand, with the digests of what they were then. */
  readonly servers: ReadonlyMap<string, string>;
}

export const NO_RECORD: TrustRecord = { parts: undefined, values: new Map(), servers: new Map() };

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

function written([folder, { parts, position, values, servers }]: readonly [string, TrustRecord]): readonly [
  string,
  unknown,
] {
  const whole = parts && { parts: Object.fromEntries(parts), position, values: Object.fromEntries(values) };
  return [folder, { ...whole, servers: Object.fromEntries(servers) }];
}

function parseTrust(text: string | undefined): Map<string, TrustRecord> {
  const projects = Object.entries(recordIn(text)).map(([folder, record]) => [folder, parseRecord(record)] as const);
  return new Map(projects);
}

function parseRecord(record: unknown): TrustRecord {
  if (!isRecord(record)) return NO_RECORD;
  const { parts, position, values, servers } = record;
  return {
    parts: isRecord(parts) ? digestsIn(parts) : undefined,
    position: typeof position === "string" ? position : undefined,
    values: digestsIn(values),
    servers: digestsIn(servers),
  };
}

function digestsIn(digests: unknown): ReadonlyMap<string, string> {
  const pairs = Object.entries(isRecord(digests) ? digests : {});
  return new Map(pairs.filter((pair): pair is [string, string] => typeof pair[1] === "string"));
}

function recordIn(text = "{}"): Readonly<Record<string, unknown>> {
  try {
    const value: unknown = JSON.parse(text);
    return isRecord(value) ? value : {};
  } catch {
    return {}; // a broken file trusts nothing, the next yes replaces it
  }
}
