import type { Dirent } from "node:fs";
import { readdir, realpath, stat } from "node:fs/promises";
import { basename, dirname, extname, join, relative, sep } from "node:path";

import { getMessage, sentence } from "../../../errors.ts";
import { listScripts } from "../agent-skill.ts";
import type { Problem } from "../../../model/provider.ts";

/** A file or folder that may hold skills. */
export interface SkillModule {
  /** The entry relative to the skills folder, for people: `weather.ts`, `weather/skill.ts`. */
  readonly source: string;
  /** The real path of the entry. */
  readonly entry: string;
  /** The name of the file or folder, without its extension. */
  readonly stem: string;
  /** The `SKILL.md` beside the entry of a folder. */
  readonly guidanceFile?: string;
}

export interface DiscoveredModules {
  /** The real path of the skills folder; `undefined` if it does not exist. */
  readonly root: string | undefined;
  /** Modules with code: folders before files, each sorted by name. */
  readonly modules: readonly SkillModule[];
  /** The files of the folder with skills that were saved from runs, sorted by name. */
  readonly saved: readonly SkillModule[];
  readonly problems: readonly Problem[];
}

/**
 * Finds the modules of a skills folder without reading or running any. A missing folder is not an error. `only` selects
 * one module: its entry, or its folder.
 */
export async function discover(dir: string, only?: string): Promise<DiscoveredModules> {
  const found = await discoverAll(dir);
  if (only === undefined) return found;
  const target = await realpath(only).catch(() => only);
  const isWanted = ({ entry }: SkillModule): boolean => entry === target || dirname(entry) === target;
  return { ...found, modules: found.modules.filter(isWanted), saved: found.saved.filter(isWanted), problems: [] };
}

const NO_MODULES = { modules: [], saved: [] };

async function discoverAll(dir: string): Promise<DiscoveredModules> {
  const root = await realpath(dir).catch(() => undefined);
  if (root === undefined) return { root, ...NO_MODULES, problems: [] };
  const name = basename(dir);
  try {
    if (!(await stat(root)).isDirectory()) throw new Error("it is not a folder");
    const locations = await placesIn({ root, source: "" });
    const folders = locations.filter((location): location is EntryLocation => location.kind === "folder");
    const files = locations.filter((location): location is EntryLocation => location.kind === "file");
    const code = files.filter((file) => isModuleFile(file.name)).map(createModule);
    const found = [...(await Promise.all(folders.map(moduleInFolder))).flat(), ...code];
    const saved = files.filter((file) => SAVED.test(file.name)).map(createModule);
    const why = `there are more than ${MAX_SAVED} saved skills`;
    const excess = saved.slice(MAX_SAVED).map(({ stem, source }) => refuse(stem, source, why));
    const refused = [...locations, ...found, ...excess].filter((each) => "error" in each);
    return {
      root,
      modules: found.filter((each) => "entry" in each),
      saved: saved.slice(0, MAX_SAVED),
      problems: refused.map(toProblem),
    };
  } catch (error) {
    return { root, ...NO_MODULES, problems: [toProblem(refuse(name, name, formatReason(error)))] };
  }
}

/** A file or folder that may be used. */
interface EntryLocation {
  readonly kind: "file" | "folder";
  readonly name: string;
  readonly source: string;
  readonly path: string;
  readonly root: string;
}

interface Refused extends Problem {
  readonly kind: "refused";
  readonly name: string;
}

/** Lists a folder, sorted by name. Follows links, but never out of the skills folder. */
async function placesIn({
  root,
  source,
}: Pick<EntryLocation, "root" | "source">): Promise<readonly (EntryLocation | Refused)[]> {
  const entries = await readdir(join(root, source), { withFileTypes: true });
  const visible = entries.filter(({ name }) => !/^[._]/.test(name) && name !== "node_modules");
  const sorted = visible.sort((a, b) => (a.name < b.name ? -1 : 1));
  return Promise.all(sorted.map((entry) => resolveEntry(root, source, entry)));
}

async function resolveEntry(root: string, folder: string, entry: Dirent): Promise<EntryLocation | Refused> {
  const name = entry.name;
  const source = folder === "" ? name : `${folder}/${name}`;
  if (SAVED.test(name) && !entry.isFile()) return refuse(name, source, "it is not a regular file");
  try {
    // A regular file needs no realpath: in a folder of hundreds of files, that saves most of the time.
    if (entry.isFile()) return { kind: "file", name, source, path: join(root, source), root };
    const path = await realpath(join(root, source));
    if (!isInside(root, path)) return refuse(name, source, "it is a symbolic link that leaves the skills folder");
    const facts = await stat(path);
    if (facts.isDirectory()) return { kind: "folder", name, source, path, root };
    return facts.isFile() ? { kind: "file", name, source, path, root } : refuse(name, source, "it is not a file");
  } catch (error) {
    const why = entry.isSymbolicLink() ? "it is a broken symbolic link" : formatReason(error);
    return refuse(name, source, why);
  }
}

export function isInside(root: string, path: string): boolean {
  return path === root || path.startsWith(root.endsWith(sep) ? root : root + sep);
}

const EXTENSIONS = [".ts", ".js", ".mjs", ".cjs"];

/** Excludes declaration files and tests. */
function isModuleFile(name: string): boolean {
  return EXTENSIONS.includes(extname(name)) && !/\.(?:d|test|spec)\.[^.]+$/.test(name);
}

/** The names of files with a saved skill; `.learned.yaml` is the earlier one. */
const SAVED = /\.(?:saved|learned)\.ya?ml$/;
const MAX_SAVED = 500;

function createModule({ name, source, path }: EntryLocation): SkillModule {
  return { source, entry: path, stem: name.replace(SAVED.test(name) ? SAVED : /\.[^.]+$/, "") };
}

/** Returns the module of a folder and the refused files in it; an empty list for a folder without code. */
async function moduleInFolder(folder: EntryLocation): Promise<readonly (SkillModule | Refused)[]> {
  const locations = await placesIn(folder);
  const names = entryNames(folder.name);
  const entry = names
    .map((name) => locations.find((location) => location.name === name))
    .find((location) => location !== undefined);
  const guidance = locations.find((location) => location.name === "SKILL.md");
  const refused = [entry, guidance].filter((location) => location?.kind === "refused");
  if (entry?.kind === "file") return [moduleAt(folder, entry, guidance), ...refused];
  if (entry === undefined && guidance?.kind === "file") return modulesOfAgentSkill(folder, guidance);
  if (entry !== undefined || !locations.some(({ name }) => isModuleFile(name))) return refused;
  const why = `it has no entry, such as skill.ts, ${folder.name}.ts, main.ts, index.ts or SKILL.md`;
  return [refuse(folder.name, folder.source, why), ...refused];
}

/** Returns the entry names in lookup order: `skill.ts`, `skill.js`, …, `<folder>.ts`, …, `main.ts`, …, `index.ts`, …. */
function entryNames(folder: string): readonly string[] {
  return ["skill", folder, "main", "index"].flatMap((stem) => EXTENSIONS.map((extension) => stem + extension));
}

function moduleAt(
  folder: EntryLocation,
  entry: EntryLocation,
  guidance: EntryLocation | Refused | undefined,
): SkillModule {
  const module = { source: entry.source, entry: entry.path, stem: folder.name };
  return guidance?.kind === "file" ? { ...module, guidanceFile: guidance.path } : module;
}

/** Returns a module for the instructions, and one for each script with functions: `pdf/scripts/fill.ts` is named `pdf-fill`. */
function modulesOfAgentSkill(folder: EntryLocation, guidance: EntryLocation): readonly SkillModule[] {
  const scripts = listScripts(guidance.path).map((entry) => ({
    source: [folder.source, ...relative(folder.path, entry).split(sep)].join("/"),
    entry,
    stem: `${folder.name}-${basename(entry, extname(entry))}`,
    guidanceFile: guidance.path,
  }));
  return [moduleAt(folder, guidance, guidance), ...scripts];
}

function refuse(name: string, source: string, why: string): Refused {
  return { kind: "refused", name, source, error: sentence("SKILL_INVALID", why) };
}

/** Returns the message of a system error without its path. */
function formatReason(error: unknown): string {
  return getMessage(error).replace(/, \w+ '[^']*'$/, "");
}

function toProblem({ source, error }: Problem): Problem {
  return { source, error };
}
