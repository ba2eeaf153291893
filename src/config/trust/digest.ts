import { createHash } from "node:crypto";
import { readdirSync, readFileSync, realpathSync } from "node:fs";
import { join, relative, sep } from "node:path";

import { findStats } from "./git.ts";
import { canonicalPath, type ConfigFolders, isInside } from "../read-file.ts";

/** The digest of each file of a project that decides what it runs: `settings.yaml`, `skills/greeter.ts`. */
export type ProjectParts = ReadonlyMap<string, string>;

/** No folder of skills that a person wrote comes near these. */
export const MAX_SKILL_FILES = 5_000;
export const MAX_SKILL_BYTES = 64 << 20;
const MAX_DEPTH = 32;

/** The policy of a project, which it may bring along but not use to permit calls. */
export const POLICY_FILES = ["policies/tools.yaml", "policies/roles.yaml", "policies/approved.yaml"] as const;

/** Files with a meaning of their own; every other part is code. */
export const PROJECT_FILES: readonly string[] = ["settings.yaml", ".env", "mcp.json", ".mcp.json", ...POLICY_FILES];

/**
 * Digests the parts of a project. `listCode`: lists files that its skills import and its servers start, by their real paths.
 * Rejects with a `RangeError` for more files than can be looked at.
 */
export async function digestProject(
  folders: ConfigFolders,
  skillsDir: string,
  listCode: () => Promise<readonly string[]>,
): Promise<ProjectParts> {
  const budget = { files: MAX_SKILL_FILES, bytes: MAX_SKILL_BYTES };
  const skills = listFiles(skillsDir, budget, []);
  const code = (await listCode()).filter((path) => !isInside(relative(canonicalPath(skillsDir), path)));
  const automations = listFiles(join(folders.cwd, "automations"), budget, []);
  const paths = [...PROJECT_FILES.map((name) => join(folders.cwd, name)), ...skills, ...automations, ...code];
  const getName = createPartNames(folders, skillsDir);
  const digests = [...new Set(paths)].map((path) => [getName(path), digestFile(path, budget)] as const);
  return new Map(digests.filter((pair): pair is [string, string] => pair[1] !== undefined));
}

/** Returns a function that names a file as a part: by its path in the project, also if links lead to it. */
export function createPartNames(folders: ConfigFolders, skillsDir: string): (path: string) => string {
  const toName = (base: string, path: string): string => relative(base, path).split(sep).join("/");
  const [project, skills] = [canonicalPath(folders.cwd), canonicalPath(skillsDir)];
  return (path) => {
    const inSkills = relative(skills, path);
    if (isInside(inSkills)) return toName(folders.cwd, join(skillsDir, inSkills));
    return isInside(relative(folders.cwd, path)) ? toName(folders.cwd, path) : toName(project, path);
  };
}

interface DigestBudget {
  files: number;
  bytes: number;
}

/** Lists the files of a folder. `above`: the folders that lead to it, so that a link to one of them is not followed again. */
function listFiles(folder: string, budget: DigestBudget, above: readonly string[]): readonly string[] {
  if (findStats(folder)?.isDirectory() !== true) return [];
  const real = realpathSync(folder);
  if (above.includes(real)) return [];
  if (above.length > MAX_DEPTH) throw new RangeError(`folders more than ${MAX_DEPTH} deep`);
  return readdirSync(folder)
    .toSorted()
    .flatMap((name) => {
      const path = join(folder, name);
      const found = findStats(path);
      if (--budget.files < 0) throw new RangeError(`more than ${MAX_SKILL_FILES} files`);
      if (found?.isDirectory() === true) return listFiles(path, budget, [...above, real]);
      return found?.isFile() === true ? [path] : [];
    });
}

function digestFile(path: string, budget: DigestBudget): string | undefined {
  const found = findStats(path);
  if (found?.isFile() !== true) return undefined;
  budget.bytes -= found.size;
  if (budget.bytes < 0) throw new RangeError(`more than ${MAX_SKILL_BYTES >> 20} MiB`);
  return createHash("sha256").update(readFileSync(path)).digest("hex");
}
