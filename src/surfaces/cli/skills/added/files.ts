import { createHash } from "node:crypto";
import { copyFile, lstat, readdir, readFile } from "node:fs/promises";
import { basename, dirname, extname, join } from "node:path";

import { SkillgateError } from "../../../../errors.ts";
import { makeFolder } from "../../../../shared/files/make-folder.ts";

/** The files of a skill, by their paths in its folder, with the digests of their bytes. */
export type SkillFiles = ReadonlyMap<string, string>;

const MAX_FILES = 500;
const MAX_BYTES = 20 << 20;
const MAX_DEPTH = 10;

/**
 * Copies a skill, a folder or a single file, into a new folder. An entry with another name than the skill is `skill.ts` there.
 * Refuses links, and more than a skill needs.
 */
export async function copySkill(from: string, to: string, stem: string): Promise<void> {
  const facts = await lstat(from);
  const names = facts.isFile() ? [basename(from)] : await listNames(from, "", 0);
  const parent = facts.isFile() ? dirname(from) : from;
  // The entry of a folder has the name of the folder, or `skill`.
  const entry = facts.isFile()
    ? names[0]
    : names.find((name) => /^[^/]+\.(?:[cm]?js|ts)$/.test(name) && getStem(name) === basename(from));
  const toEntry = (name: string): string => (name === entry && getStem(name) !== stem ? `skill${extname(name)}` : name);
  if (names.length > MAX_FILES) throw refuse(`it has more than ${MAX_FILES} files`);
  let bytes = 0;
  for (const name of names) {
    bytes += (await lstat(join(parent, name))).size;
    if (bytes > MAX_BYTES) throw refuse(`it has more than ${MAX_BYTES >> 20} MB`);
    const target = join(to, toEntry(name));
    await makeFolder(dirname(target), 0o777);
    await copyFile(join(parent, name), target);
  }
}

function getStem(name: string): string {
  return basename(name, extname(name));
}

/** Lists the files below a folder. Names that begin with a dot, and installed packages, are left out. */
async function listNames(root: string, folder: string, depth: number): Promise<string[]> {
  if (depth > MAX_DEPTH) throw refuse(`it has more than ${MAX_DEPTH} levels of folders`);
  const entries = await readdir(join(root, folder), { withFileTypes: true });
  const names: string[] = [];
  for (const entry of entries) {
    if (entry.name.startsWith(".") || entry.name === "node_modules") continue;
    const name = folder === "" ? entry.name : `${folder}/${entry.name}`;
    if (entry.isDirectory()) names.push(...(await listNames(root, name, depth + 1)));
    else if (entry.isFile()) names.push(name);
    else throw refuse(`${name} is neither a file nor a folder`);
    if (names.length > MAX_FILES) break;
  }
  return names;
}

/** Reads the files of a skill's folder; none if it does not exist. */
export async function digestFiles(folder: string): Promise<SkillFiles> {
  const names = await listNames(folder, "", 0).catch((error: unknown) => {
    if ((error as NodeJS.ErrnoException).code === "ENOENT") return [];
    throw error;
  });
  const pairs = names
    .toSorted((one, other) => (one < other ? -1 : 1))
    .map(async (name) => [name, sha256(await readFile(join(folder, name)))] as const);
  return new Map(await Promise.all(pairs));
}

/** Returns one digest of all names and contents: SHA-256 in hexadecimal. */
export function digestSkill(files: SkillFiles): string {
  return sha256(JSON.stringify([...files]));
}

function sha256(content: Buffer | string): string {
  return createHash("sha256").update(content).digest("hex");
}

/** Lists what differs: `skill.ts (changed)`. */
export function compareFiles(before: SkillFiles, after: SkillFiles): readonly string[] {
  const names = [...new Set([...before.keys(), ...after.keys()])].toSorted();
  return names.flatMap((name) => {
    if (before.get(name) === after.get(name)) return [];
    return `${name} (${!before.has(name) ? "new" : after.has(name) ? "changed" : "removed"})`;
  });
}

function refuse(why: string): SkillgateError {
  return new SkillgateError("SKILL_INVALID", `Cannot add the skill: ${why}`);
}
