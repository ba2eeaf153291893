import { createHash } from "node:crypto";
import { basename } from "node:path";

import { getMessage } from "../../errors.ts";
import type { Problem } from "../../model/provider.ts";
import { canonicalPath, type ConfigFolders } from "../read-file.ts";
import type { Environment } from "../variables.ts";
import { digestProject, type ProjectParts } from "./digest.ts";
import { NO_RECORD, readTrust, trustFile, type TrustRecord } from "./record.ts";

export { changeTrust, readTrust, trustFile, type TrustRecord } from "./record.ts";
export { restrictSettings } from "./restrict.ts";
export { POLICY_FILES } from "./digest.ts";
export type { ProjectParts } from "./digest.ts";

/** Whether a project may do what its files say, by decision of its owner. */
export interface ProjectTrust {
  /** By its real path, however it was reached. */
  readonly folder: string;
  readonly isTrusted: boolean;
  /** Trusted without a record. */
  readonly isGiven: boolean;
  /** All of it was trusted once, and these parts are not what they were then. */
  readonly changed: readonly string[];
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
  /** Digests of what its servers are given beside what the files say. */
  readonly values: ProjectParts;
  /** Trusted without a record: the user, or the program that asks, has said so. */
  readonly isGiven: boolean;
}

/** Compares a project with what was recorded when its owner trusted it. */
export async function decideTrust({ env, folders, skillsDir, values, isGiven }: TrustQuestion): Promise<ProjectTrust> {
  const folder = canonicalPath(folders.cwd);
  const now = {
    values,
    ...(isGiven ? { parts: new Map<string, string>(), excess: undefined } : digestParts(folders, skillsDir)),
  };
  const then = isGiven ? NO_RECORD : await readTrustRecord(folder, env, folders);
  const changed = then.parts === undefined ? [] : changesFrom({ ...then, parts: then.parts }, now);
  const isRecorded = then.parts !== undefined && changed.length === 0 && now.excess === undefined;
  return { folder, isTrusted: isGiven || isRecorded, isGiven, changed, servers: then.servers, ...now };
}

function digestParts(folders: ConfigFolders, skillsDir: string): Pick<ProjectTrust, "parts" | "excess"> {
  try {
    return { parts: digestProject(folders, skillsDir), excess: undefined };
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

/** Names of parts that are new, gone or different. A variable without a value changes nothing: its entry was seen. */
function changesFrom(then: State, now: State): readonly string[] {
  const parts = [...new Set([...then.parts.keys(), ...now.parts.keys()])];
  return [
    ...parts.filter((name) => then.parts.get(name) !== now.parts.get(name)),
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
