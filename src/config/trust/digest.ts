import { createHash, type Hash } from "node:crypto";
import { lstatSync, readdirSync, readFileSync, readlinkSync, realpathSync, statSync } from "node:fs";
import { join, relative, sep } from "node:path";

import { canonicalPath, type ConfigFolders, formatPathLabel, isInside } from "../read-file.ts";

/** The digest of each part of a project that decides what it runs: `settings.yaml`, `skills/greeter.ts`. */
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
 * The parts of a project that are there. `code`: files that its skills import and its servers start, absolute; those outside
 * of the project are not parts of it. Throws a `RangeError` for more files than can be looked at.
 */
export function digestProject(folders: ConfigFolders, skillsDir: string, code: readonly string[]): ProjectParts {
  const budget = { files: MAX_SKILL_FILES, bytes: MAX_SKILL_BYTES };
  const files = PROJECT_FILES.map((name) => [name, join(folders.cwd, name)] as const);
  const skills = namesIn(skillsDir).map((name) => {
    const path = join(skillsDir, name);
    return [formatPathLabel(path, folders).split(sep).join("/"), path] as const;
  });
  const isInProject = (path: string): boolean => isInside(relative(canonicalPath(folders.cwd), path));
  const isSkill = (path: string): boolean => isInside(relative(canonicalPath(skillsDir), path));
  const imported = code
    .filter((path) => isInProject(path) && !isSkill(path))
    .map((path) => [relative(canonicalPath(folders.cwd), path).split(sep).join("/"), path] as const);
  const digests = [...files, ...skills, ...imported].map(([name, path]) => [name, digestTree(path, budget)] as const);
  return new Map(digests.filter((pair): pair is [string, string] => pair[1] !== undefined));
}

interface DigestBudget {
  files: number;
  bytes: number;
}

/** The digest of a file, or of everything in a folder; `undefined` for what is not there. */
function digestTree(path: string, budget: DigestBudget): string | undefined {
  const hash = createHash("sha256");
  return addTree(hash, path, budget, []) ? hash.digest("hex") : undefined;
}

/** `above`: the folders that lead to it, so that a link to one of them is not followed again. */
function addTree(hash: Hash, path: string, budget: DigestBudget, above: readonly string[]): boolean {
  const found = lstatSync(path, { throwIfNoEntry: false });
  if (found === undefined) return false;
  if (--budget.files < 0) throw new RangeError(`more than ${MAX_SKILL_FILES} files`);
  if (found.isSymbolicLink()) add(hash, "link", readlinkSync(path));
  const target = statSync(path, { throwIfNoEntry: false });
  if (target === undefined) return true; // a link to nothing
  if (target.isFile()) addFile(hash, path, target.size, budget);
  else if (target.isDirectory()) addFolder(hash, path, budget, above);
  else add(hash, "other", "");
  return true;
}

function addFile(hash: Hash, path: string, size: number, budget: DigestBudget): void {
  budget.bytes -= size;
  if (budget.bytes < 0) throw new RangeError(`more than ${MAX_SKILL_BYTES >> 20} MiB`);
  add(hash, "file", createHash("sha256").update(readFileSync(path)).digest("hex"));
}

function addFolder(hash: Hash, path: string, budget: DigestBudget, above: readonly string[]): void {
  const real = realpathSync(path);
  add(hash, "folder", "");
  if (above.includes(real)) return;
  if (above.length >= MAX_DEPTH) throw new RangeError(`folders more than ${MAX_DEPTH} deep`);
  for (const name of namesIn(path)) {
    add(hash, "name", name);
    addTree(hash, join(path, name), budget, [...above, real]);
  }
  add(hash, "end", "");
}

/** With lengths, so that no name can pass for another field. */
function add(hash: Hash, kind: string, text: string): void {
  hash.update(`${kind} ${Buffer.byteLength(text)} ${text}\n`);
}

function namesIn(folder: string): readonly string[] {
  if (statSync(folder, { throwIfNoEntry: false })?.isDirectory() !== true) return [];
  return readdirSync(folder).toSorted();
}
