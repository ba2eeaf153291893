import { createHash } from "node:crypto";
import { type Dirent, lstatSync, readdirSync, readFileSync } from "node:fs";
import { extname, join } from "node:path";

import { getMessage } from "../../../errors.ts";
import { listConfigFiles, trustFile } from "../../../config/index.ts";
import type { Problem } from "../../../model/provider.ts";
import type { Runtime } from "../../../runtime.ts";
import { listVariableNames, MAX_NAMES } from "./address.ts";

/** The files that decide whether a runtime that was opened earlier does the same as a new one. */
export interface ProjectState {
  /** Lists the environment variables that the files of the project may read. */
  listNames(): readonly string[];
  /** Says why the runtime is not what a new one would be; `undefined` if it is. Loads skills that have changed. */
  findDifference(): Promise<string | undefined>;
}

export interface ProjectStateOptions {
  readonly cwd: string;
  readonly settings: string | undefined;
  readonly mcpConfig: string | undefined;
  readonly skillsFolder: string;
  /** Reads the configuration now, and returns its problems. */
  readonly readProblems: () => Promise<readonly Problem[]>;
  readonly runtime: Pick<Runtime, "reloadSkills">;
}

/** The most files of skills that are compared at each command. */
const MAX_SKILL_FILES = 2_000;

/** Remembers the files of a project as they are now, when its runtime is opened. */
export async function rememberProject(options: ProjectStateOptions): Promise<ProjectState> {
  const configFiles = listConfigFiles({
    cwd: options.cwd,
    env: process.env,
    ...(options.settings !== undefined && { settingsFile: options.settings }),
    ...(options.mcpConfig !== undefined && { mcpConfigFile: options.mcpConfig }),
  });
  const trusted = trustFile(process.env, process.env["HOME"] ?? "");
  const config = digest(configFiles.map(readIfThere));
  const wasHeld = await isHeld(options);
  let skills = listFiles(options.skillsFolder);
  let trust = getStamp(trusted);
  let names: readonly string[] | undefined;
  const listNames = (): readonly string[] =>
    (names ??= listVariableNames([...configFiles, ...getSources(skills)].map((file) => readIfThere(file) ?? "")));
  return {
    listNames,
    async findDifference() {
      if (wasHeld) return "a part of the project was held when it started";
      if (digest(configFiles.map(readIfThere)) !== config) return "the settings have changed since it started";
      const [skillsNow, trustNow] = [listFiles(options.skillsFolder), getStamp(trusted)];
      if (skillsNow === undefined) return `the project has more than ${MAX_SKILL_FILES} files of skills`;
      const areChanged = JSON.stringify(skillsNow) !== JSON.stringify(skills);
      if (areChanged || trustNow !== trust) {
        if (await isHeld(options)) return "the project is not trusted as it is now";
        if (areChanged) await options.runtime.reloadSkills();
        names = undefined;
        [skills, trust] = [skillsNow, trustNow];
      }
      return listNames().length > MAX_NAMES ? `the project mentions more than ${MAX_NAMES} variables` : undefined;
    },
  };
}

async function isHeld({ readProblems }: ProjectStateOptions): Promise<boolean> {
  return (await readProblems()).some((problem) => problem.isHeld);
}

type FileStamp = readonly [path: string, stamp: string];

/** Lists the files of a folder with their stamps; `undefined` for too many. */
function listFiles(folder: string): readonly FileStamp[] | undefined {
  const found: FileStamp[] = [];
  const open = [folder];
  for (let next = open.pop(); next !== undefined; next = open.pop()) {
    const current = next;
    for (const entry of readFolder(current)) {
      if (entry.name === "node_modules" || entry.name.startsWith(".")) continue;
      const path = join(current, entry.name);
      if (entry.isDirectory()) open.push(path);
      else found.push([path, getStamp(path)]);
      if (found.length > MAX_SKILL_FILES) return undefined;
    }
  }
  return found;
}

function readFolder(folder: string): readonly Dirent[] {
  try {
    return readdirSync(folder, { withFileTypes: true });
  } catch {
    return []; // a project without skills, or a folder that is gone by now
  }
}

/** The files that may read a variable of the environment. */
function getSources(files: readonly FileStamp[] | undefined): readonly string[] {
  return (files ?? [])
    .map(([path]) => path)
    .filter((path) => /^\.[cm]?[jt]sx?$|^\.json$|^\.ya?ml$/.test(extname(path)));
}

/** A text that changes whenever a file does. */
function getStamp(path: string): string {
  const stats = lstatSync(path, { throwIfNoEntry: false, bigint: true });
  return stats === undefined ? "" : `${stats.ino} ${stats.size} ${stats.mtimeNs} ${stats.ctimeNs}`;
}

function readIfThere(path: string): string | undefined {
  try {
    return readFileSync(path, "utf8");
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === "ENOENT" ? undefined : getMessage(error);
  }
}

function digest(texts: readonly (string | undefined)[]): string {
  return createHash("sha256")
    .update(JSON.stringify(texts.map((text) => text ?? null)))
    .digest("hex");
}
