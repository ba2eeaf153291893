import { createHash } from "node:crypto";
import { existsSync } from "node:fs";
import { basename } from "node:path";

import { getMessage } from "../../errors.ts";
import type { Problem } from "../../model/provider.ts";
import { canonicalPath, type ConfigFolders } from "../read-file.ts";
import type { Environment } from "../variables.ts";
import { digestProject, PROJECT_FILES, type ProjectParts } from "./digest.ts";
import { openOwnChanges, type OwnChanges } from "./own-changes.ts";
import { NO_RECORD, readTrust, trustFile, type TrustRecord } from "./record.ts";

export { changeTrust, readTrust, trustFile, type TrustRecord } from "./record.ts";
export { restrictSettings } from "./restrict.ts";
export { POLICY_FILES, PROJECT_FILES } from "./digest.ts";
export type { ProjectParts } from "./digest.ts";

/** Whether a project may do what its files say, by decision of its owner. */
export interface ProjectTrust {
  /** By its real path, however it was reached. */
  readonly folder: string;
  readonly isTrusted: boolean;
  /** Trusted without a record. */
  readonly isGiven: boolean;
  /** All of it was trusted once, and these parts are not what they were then, by changes of others than the owner. */
  readonly changed: readonly string[];
  /** The last change of HEAD. */
  readonly position: string;
  /** The current parts of the project. */
  readonly parts: ProjectParts;
  /** Digests of the outside values that its servers receive: `TOKEN of MCP server github`. */
  readonly values: ProjectParts;
  /** Servers that the user has written by hand, with their digests. */
  readonly servers: ReadonlyMap<string, string>;
  /** Why it cannot be trusted as it is: `it has more than 5000 files`. */
  readonly excess: string | undefined;
}

export interface TrustQuestion {
  readonly env: Environment;
  readonly folders: ConfigFolders;
  /** Where its skills are. */
  readonly skillsDir: string;
  /** Files that its servers start: commands and arguments. */
  readonly started: readonly string[];
  /** Digests of what its servers are given beside what the files say. */
  readonly values: ProjectParts;
  /** Trusted without a record: the user, or the program that asks, has said so. */
  readonly isGiven: boolean;
}

/** Compares a project with what was recorded when its owner trusted it. */
export async function decideTrust(question: TrustQuestion): Promise<ProjectTrust> {
  const { env, folders, values, isGiven } = question;
  const folder = canonicalPath(folders.cwd);
  const now = {
    values,
    ...(isGiven ? { parts: new Map<string, string>(), excess: undefined } : await digestParts(question)),
  };
  const then = isGiven ? NO_RECORD : await readTrustRecord(folder, env, folders);
  const own = openOwnChanges(folder);
  const changed =
    then.parts === undefined || isGiven ? [] : await findHeldChanges({ ...then, parts: then.parts }, now, own);
  const isRecorded = then.parts !== undefined && changed.length === 0 && now.excess === undefined;
  return {
    folder,
    isTrusted: isGiven || isRecorded,
    isGiven,
    changed,
    position: own.position,
    servers: then.servers,
    ...now,
  };
}

async function digestParts({
  folders,
  skillsDir,
  started,
}: TrustQuestion): Promise<Pick<ProjectTrust, "parts" | "excess">> {
  try {
    const { listImportedFiles } = await import("../../providers/skills/index.ts");
    const code = [...started, ...(existsSync(skillsDir) ? await listImportedFiles(skillsDir) : [])];
    return { parts: digestProject(folders, skillsDir, code), excess: undefined };
  } catch (thrown) {
    const what = thrown instanceof RangeError ? `its skills contain ${thrown.message}` : getMessage(thrown);
    return { parts: new Map(), excess: what };
  }
}

async function readTrustRecord(folder: string, env: Environment, { home }: ConfigFolders): Promise<TrustRecord> {
  return (await readTrust(trustFile(env, home))).get(folder) ?? NO_RECORD;
}

interface State {
  readonly parts: ProjectParts;
  readonly values: ProjectParts;
}

/**
 * Names of parts that are new, gone or different, except those that the owner has changed. A variable without a value changes
 * nothing: its entry was seen.
 */
async function findHeldChanges(
  then: State & Pick<TrustRecord, "position">,
  now: State,
  own: OwnChanges,
): Promise<readonly string[]> {
  const parts = [...new Set([...then.parts.keys(), ...now.parts.keys()])];
  // Code that is gone cannot run; a policy that is gone no longer restricts.
  const isRelevant = (name: string): boolean => now.parts.has(name) || PROJECT_FILES.includes(name);
  const changed = parts.filter((name) => then.parts.get(name) !== now.parts.get(name) && isRelevant(name));
  return [
    ...(await own.findForeign(changed, { position: then.position, isNew: (part) => !then.parts.has(part) })),
    ...[...now.values.keys()].filter((name) => then.values.get(name) !== now.values.get(name)),
  ];
}

export function digestValue(value: unknown): string {
  return createHash("sha256").update(JSON.stringify(value)).digest("hex");
}

/** A part of a project that is held, described for its owner. */
export interface HeldPart {
  /** `MCP server github (.mcp.json)`, `skills/greeter.ts` */
  readonly name: string;
  /** The command that it starts, and the variables that it reads. */
  readonly detail: string;
  readonly isChanged: boolean;
}

/** `this folder is not trusted yet` */
export function whyHeld({ changed, excess }: ProjectTrust): string {
  if (excess !== undefined) return `this folder cannot be trusted as a whole, as ${excess}`;
  if (changed.length === 0) return "this folder is not trusted yet";
  return `this folder has changed since it was trusted (${changed.join(", ")})`;
}

/** Returns what the owner can do to allow it. */
export function howToAllow({ excess }: ProjectTrust): string {
  return excess === undefined
    ? "look at it, and allow it with: skillgate trust"
    : "name the folder with --skills, or list this one in SKILLGATE_TRUSTED_FOLDERS";
}

/** One problem for everything that is held; `undefined` where that is nothing. */
export function heldProblem(trust: ProjectTrust, parts: readonly HeldPart[]): Problem | undefined {
  if (trust.isTrusted || parts.length === 0) return undefined;
  const names = parts.map(({ name }) => name).join(", ");
  return {
    source: basename(trust.folder),
    error: `Held, as ${whyHeld(trust)}: ${names}`,
    fix: howToAllow(trust),
    isHeld: true,
  };
}
