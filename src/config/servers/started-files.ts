import { readFileSync, statSync } from "node:fs";
import { basename, dirname, join, relative, resolve } from "node:path";

import { isRecord, parseJson } from "../../model/json.ts";
import { canonicalPath, isInside } from "../read-file.ts";
import type { EntryValues } from "../reads.ts";
import { fillIn } from "../variables.ts";
import { getCommandWords } from "./entry-keys.ts";

/**
 * Lists the files of a project among the command, the arguments and `envFile` of an entry, by their real paths. Of `npx NAME`, these
 * are the programs of a package in the project.
 */
export function listStartedFiles(entry: unknown, { variables, inputs, cwd = "" }: EntryValues): readonly string[] {
  if (!isRecord(entry)) return [];
  const { cwd: folder, envFile } = entry;
  const fill = (text: string): string => fillIn(text, variables, new Set(), inputs);
  const base = typeof folder === "string" ? resolve(cwd, fill(folder)) : cwd;
  // An option may hold a path: `--require=./hook.js`.
  const words = getCommandWords(entry).flatMap((word) => [word, ...word.split("=").slice(1)]);
  const project = canonicalPath(cwd);
  const modules = listModuleFolders(canonicalPath(base), project);
  const paths = words.map((word) => resolve(base, fill(word)));
  const programs = isPackageRunner(words[0]) ? words.flatMap((word) => listPrograms(modules, fill(word))) : [];
  const files = [...paths, ...programs, ...(typeof envFile === "string" ? [resolve(cwd, envFile)] : [])];
  return [...new Set(files.map(canonicalPath))].filter((path) => isInside(relative(project, path)) && isFile(path));
}

/** The folders of packages that a program in a folder of the project uses. */
function listModuleFolders(folder: string, project: string): readonly string[] {
  const own = join(folder, "node_modules");
  if (folder === project) return [own];
  return isInside(relative(project, folder)) ? [own, ...listModuleFolders(dirname(folder), project)] : [];
}

/** True for a command that starts a program of an installed package. */
function isPackageRunner(command = ""): boolean {
  return /^(?:npx|npm|pnpx|pnpm|yarn|bunx|bun)(?:\.cmd|\.exe)?$/i.test(basename(command.replaceAll("\\", "/")));
}

/** Lists the files that decide what `npx NAME` starts, whether or not they exist. */
function listPrograms(modules: readonly string[], word: string): readonly string[] {
  const [, name] = /^((?:@[\w.-]+\/)?\w[\w.-]*)(?:@.*)?$/.exec(word) ?? [];
  if (name === undefined) return [];
  return modules.flatMap((folder) => {
    const facts = join(folder, name, "package.json");
    const parsed = isFile(facts) ? parseJson(readFileSync(facts, "utf8")) : undefined;
    const bin = isRecord(parsed) ? parsed["bin"] : undefined;
    const scripts = (isRecord(bin) ? Object.values(bin) : [bin]).filter((script) => typeof script === "string");
    return [join(folder, ".bin", name), facts, ...scripts.map((script) => join(folder, name, script))];
  });
}

function isFile(path: string): boolean {
  try {
    return statSync(path).isFile();
  } catch {
    return false; // most arguments are not paths
  }
}
