import { createHash } from "node:crypto";
import { existsSync } from "node:fs";
import { basename } from "node:path";

import { getMessage } from "../../errors.ts";
import type { Problem, SkillGate } from "../../model/provider.ts";
import { canonicalPath, type ConfigFolders } from "../read-file.ts";
import type { Environment } from "../variables.ts";
import { createPartNames, digestProject, POLICY_FILES, PROJECT_FILES, type ProjectParts } from "./digest.ts";
import { CHANGED, openOwnChanges, type OwnChanges } from "./own-changes.ts";
import { NO_RECORD, readTrust, trustFile, type TrustRecord } from "./record.ts";

export { changeTrust, readTrust, trustFile, type TrustRecord } from "./record.ts";
export { restrictSettings } from "./restrict.ts";
export { POLICY_FILES, PROJECT_FILES } from "./digest.ts";
export type { ProjectParts } from "./digest.ts";

/** The decision of its owner about a project: which parts of it may do what its files say. */
export interface ProjectTrust extends Omit<SkillGate, "refresh"> {
  /** By its real path, however it was reached. */
  readonly folder: string;
  /** True if nothing is held. */
  readonly isTrusted: boolean;
  /** Trusted without a record. */
  readonly isGiven: boolean;
  /** The parts and values that are held, with the reasons: `skills/greeter.ts changed by a pull`. */
  readonly reasons: ReadonlyMap<string, string>;
  /** The reason if the whole project is held: its policy has changed. */
  readonly all: string | undefined;
  /** The parts and values in `held` that have changed since the whole project was trusted. */
  readonly changed: readonly string[];
  /** The record of what its owner has trusted. */
  readonly record: TrustRecord;
  /** The last change of HEAD before the parts were read. */
  readonly position: string;
  /** The current parts of the project. */
  readonly parts: ProjectParts;
  /** Digests of the outside values that its servers receive: `TOKEN of MCP server github`. */
  readonly values: ProjectParts;
  /** Digests of the servers of the project. */
  readonly servers: ProjectParts;
  /** Why it cannot be trusted as it is: `it has more than 5000 files`. */
  readonly excess: string | undefined;
  /** Returns the name of a file among the parts. */
  getPart(path: string): string;
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
  readonly servers: ProjectParts;
  /** Trusted without a record: the user, or the program that asks, has said so. */
  readonly isGiven: boolean;
  /** The owner wants to be asked about each change, also about their own. */
  readonly asksAlways: boolean;
}

/** The name among the values for the digest of the settings that restrict something. */
export const RESTRICTIONS = "restrictions of settings.yaml";

/** Compares a project with what was recorded when its owner trusted it. */
export async function decideTrust(question: TrustQuestion): Promise<ProjectTrust> {
  const { env, folders, values, servers, isGiven } = question;
  const folder = canonicalPath(folders.cwd);
  if (isGiven) return { ...GIVEN, folder };
  const own = openOwnChanges(folder);
  const { position } = own;
  const { parts, excess } = await digestParts(question);
  const record = (await readTrust(trustFile(env, folders.home))).get(folder) ?? NO_RECORD;
  const rule: TrustRule = { record, own, asksAlways: question.asksAlways };
  const changes = await findHeldParts(withMissing(parts, record), rule);
  const all = findReasonForAll(changes, record, values);
  const reasons = new Map([
    ...[...changes].filter(([part]) => parts.has(part)).map(([part, why]) => [part, all ?? why] as const),
    ...(all === undefined ? [] : [...parts.keys()].map((part) => [part, all] as const)),
    ...(record.isWhole ? findChangedValues(values, record) : []),
  ]);
  const getPart = createPartNames(folders, question.skillsDir);
  return {
    folder,
    isTrusted: reasons.size === 0 && excess === undefined,
    isGiven,
    reasons,
    all,
    changed: record.isWhole ? [...changes.keys(), ...[...reasons.keys()].filter((name) => values.has(name))] : [],
    record,
    position,
    parts,
    values,
    servers,
    excess,
    getPart,
    async whyHeld(digests) {
      if (excess !== undefined) return describeExcess(excess);
      if (all !== undefined) return all;
      const digestsByPart = new Map(digests.map(([file, digest]) => [getPart(file), digest] as const));
      const [why] = (await findHeldParts(digestsByPart, rule)).values();
      return why;
    },
    whyHeldIn(path) {
      const inFolder = `${getPart(path)}/`;
      return [...reasons].find(([part]) => part.startsWith(inFolder))?.[1];
    },
  };
}

/** The trust of a project that needs no record. */
export const GIVEN: ProjectTrust = {
  folder: "",
  isTrusted: true,
  isGiven: true,
  reasons: new Map(),
  all: undefined,
  changed: [],
  record: NO_RECORD,
  position: "",
  parts: new Map(),
  values: new Map(),
  servers: new Map(),
  excess: undefined,
  getPart: (path) => path,
  whyHeld: async () => undefined,
  whyHeldIn: () => undefined,
};

async function digestParts({
  folders,
  skillsDir,
  started,
}: TrustQuestion): Promise<Pick<ProjectTrust, "parts" | "excess">> {
  try {
    const { listInputs } = await import("../../providers/skills/index.ts");
    const listCode = async (): Promise<readonly string[]> => [
      ...started,
      ...(existsSync(skillsDir) ? await listInputs(skillsDir) : []),
    ];
    return { parts: await digestProject(folders, skillsDir, listCode), excess: undefined };
  } catch (thrown) {
    const what = thrown instanceof RangeError ? `its skills contain ${thrown.message}` : getMessage(thrown);
    return { parts: new Map(), excess: what };
  }
}

/** Files with a meaning of their own count also when they are gone: a policy that is gone no longer restricts. */
function withMissing(parts: ProjectParts, { files }: TrustRecord): ProjectParts {
  const missing = PROJECT_FILES.filter((name) => files.has(name) && !parts.has(name));
  return new Map([...parts, ...missing.map((name) => [name, MISSING] as const)]);
}

const MISSING = "";

interface TrustRule {
  readonly record: TrustRecord;
  readonly own: OwnChanges;
  readonly asksAlways: boolean;
}

/** The rule of trust: returns the parts that are held, with the reasons. */
async function findHeldParts(parts: ProjectParts, rule: TrustRule): Promise<ReadonlyMap<string, string>> {
  const { record, own, asksAlways } = rule;
  const isNew = (part: string): boolean => !record.files.has(part);
  const changed = [...parts.keys()].filter((part) => parts.get(part) !== record.files.get(part));
  const unseen = record.isWhole ? [] : changed.filter(isNew);
  const judged = changed.filter((part) => !unseen.includes(part));
  const reasons = asksAlways
    ? new Map(judged.map((part) => [part, CHANGED]))
    : await own.findForeign(judged, { position: record.position, isNew });
  const foreign = [...reasons].map(([part, why]) => [part, `${part} ${why}`] as const);
  // Such a file says which other files are code, so that also those are new that were there before.
  const deciding = foreign.find(([part]) => /(?:^|\/)(?:package\.json|settings\.yaml)$/.test(part))?.[1];
  const further = judged.filter((part) => deciding !== undefined && isNew(part) && !reasons.has(part));
  return new Map([
    ...unseen.map((part) => [part, record.isOutdated ? OUTDATED : NOT_YET] as const),
    ...foreign,
    ...further.map((part) => [part, deciding ?? ""] as const),
  ]);
}

const NOT_YET = "this folder is not trusted yet";
const OUTDATED = "this folder was trusted by an earlier version of Skillgate, which did not compare each file";

/** A policy and settings also restrict: what they no longer restrict must not be used before their owner knows. */
function findReasonForAll(
  reasons: ReadonlyMap<string, string>,
  record: TrustRecord,
  values: ProjectParts,
): string | undefined {
  if (!record.isWhole) return undefined;
  const policy = POLICY_FILES.find((name) => reasons.has(name));
  if (policy !== undefined) return reasons.get(policy);
  return record.values.get(RESTRICTIONS) === values.get(RESTRICTIONS) ? undefined : reasons.get("settings.yaml");
}

/** A variable without a value changes nothing: its entry was seen. */
function findChangedValues(
  values: ProjectParts,
  record: TrustRecord,
): readonly (readonly [value: string, why: string])[] {
  return [...values.keys()]
    .filter((name) => name !== RESTRICTIONS && values.get(name) !== record.values.get(name))
    .map((name) => [name, `${name} has another value`] as const);
}

export function digestValue(value: unknown): string {
  return createHash("sha256")
    .update(JSON.stringify(value) ?? "")
    .digest("hex");
}

/** A part of a project that is held, described for its owner. */
export interface HeldPart {
  /** `MCP server github (.mcp.json)`, `skills/greeter.ts` */
  readonly name: string;
  /** The command that it starts, and the variables that it reads. */
  readonly detail: string;
  readonly isChanged: boolean;
}

/** Says why a part is held: `skills/greeter.ts changed by a pull`; `undefined` if it is not. */
export function whyPartHeld({ reasons, excess, all, isGiven }: ProjectTrust, part: string): string | undefined {
  if (isGiven) return undefined;
  return all ?? (excess === undefined ? reasons.get(part) : describeExcess(excess));
}

function describeExcess(excess: string): string {
  return `this folder cannot be trusted as a whole, as ${excess}`;
}

/** Returns what the owner can do to allow it. */
function howToAllow({ excess }: ProjectTrust): string {
  return excess === undefined
    ? "look at it, and allow it with: skillgate trust"
    : "name the folder with --skills, or list this one in SKILLGATE_TRUSTED_FOLDERS";
}

/** One problem for everything that is held; `undefined` where that is nothing. */
export function heldProblem(trust: ProjectTrust, parts: readonly HeldPart[]): Problem | undefined {
  if (trust.isTrusted || parts.length === 0) return undefined;
  const { record, excess, folder } = trust;
  const reasons = [...new Set(trust.all === undefined ? trust.reasons.values() : [trust.all])];
  const names = parts.map(({ name }) => name).join(", ");
  const why = excess === undefined ? (record.isOutdated ? OUTDATED : NOT_YET) : describeExcess(excess);
  const isPartly = record.isWhole && excess === undefined;
  return {
    source: basename(folder),
    error: isPartly ? `Held: ${reasons.join(", ")}` : `Held, as ${why}: ${names}`,
    fix: howToAllow(trust),
    isHeld: true,
  };
}
