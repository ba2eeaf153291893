import { readFile } from "node:fs/promises";
import { join } from "node:path";

import { isRecord, parseJsonObject } from "../../../../model/json.ts";
import { isRegularFile } from "../../../../shared/files/regular-file.ts";
import { toFileStem } from "../../../../shared/names/file-stem.ts";
import { loadConfigModule } from "../../mcp/files.ts";
import { shownPath } from "../../text/layout.ts";
import { UsageError } from "../../usage-error.ts";
import type { SkillOrigin } from "./source.ts";

/** Where a skill was added from. */
export interface AddedSkill {
  readonly source: SkillOrigin;
  /** The name of the skill in the source; empty if the source is the skill. */
  readonly part: string;
  /** The commit, or the version of the package. */
  readonly version: string;
  /** The digest of all its files as they were added. */
  readonly digest: string;
}

export type AddedSkills = ReadonlyMap<string, AddedSkill>;

/** The file in the skills folder that lists the added skills, so that a team sees and repeats them. */
export function getRecordFile(skillsFolder: string): string {
  return join(skillsFolder, ".added.json");
}

export async function readAdded(skillsFolder: string): Promise<AddedSkills> {
  const file = getRecordFile(skillsFolder);
  return parseAdded(isRegularFile(file) ? await readFile(file, "utf8") : "{}", file);
}

function parseAdded(text: string, file: string): AddedSkills {
  const invalid = (): UsageError =>
    new UsageError(`Cannot read ${shownPath(file)}: it is damaged; correct it, or delete it and add the skills again`);
  const value = parseJsonObject(text);
  if (value === undefined) throw invalid();
  return new Map(
    Object.entries(value).map(([stem, each]) => {
      const parsed = parseSkill(each);
      if (parsed === undefined || toFileStem(stem) === undefined || stem.startsWith(".")) throw invalid();
      return [stem, parsed] as const;
    }),
  );
}

function parseSkill(value: unknown): AddedSkill | undefined {
  const { kind, source, part, version, digest } = isRecord(value) ? value : {};
  if (kind !== "folder" && kind !== "git" && kind !== "npm") return undefined;
  const texts = [source, part, version, digest];
  if (!texts.every((each) => typeof each === "string")) return undefined;
  return {
    source: { kind, text: String(source) },
    part: String(part),
    version: String(version),
    digest: String(digest),
  };
}

/** Changes the list by hand; `undefined` removes a skill from it. */
export async function changeAdded(
  skillsFolder: string,
  changes: ReadonlyMap<string, AddedSkill | undefined>,
): Promise<void> {
  const { changeByHand } = await loadConfigModule();
  const options = { cwd: process.cwd(), env: process.env };
  await changeByHand(options, { files: [getRecordFile(skillsFolder)] }, () => writeAdded(skillsFolder, changes));
}

/** Writes the list as a part of a change by hand. */
export async function writeAdded(
  skillsFolder: string,
  changes: ReadonlyMap<string, AddedSkill | undefined>,
): Promise<void> {
  const file = getRecordFile(skillsFolder);
  const { changeFile } = await loadConfigModule();
  await changeFile(file, { label: shownPath(file), isPrivate: false }, (text = "{}") =>
    formatAdded(new Map([...parseAdded(text, file), ...changes])),
  );
}

function formatAdded(added: ReadonlyMap<string, AddedSkill | undefined>): string {
  const entries = [...added].flatMap(([stem, skill]) => {
    if (skill === undefined) return [];
    const { source, ...facts } = skill;
    return [[stem, { kind: source.kind, source: source.text, ...facts }] as const];
  });
  return `${JSON.stringify(Object.fromEntries(entries.toSorted(([a], [b]) => (a < b ? -1 : 1))), undefined, 2)}\n`;
}
