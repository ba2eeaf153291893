import { statSync } from "node:fs";
import { relative, resolve } from "node:path";

import { isRecord } from "../../model/json.ts";
import { canonicalPath, isInside } from "../read-file.ts";
import type { EntryValues } from "../reads.ts";
import { fillIn } from "../variables.ts";
import { getCommandWords } from "./entry-keys.ts";

/** Lists the files of a project among the command, the arguments and `envFile` of an entry, by their real paths. */
export function listStartedFiles(entry: unknown, { variables, inputs, cwd = "" }: EntryValues): readonly string[] {
  if (!isRecord(entry)) return [];
  const { cwd: folder, envFile } = entry;
  const fill = (text: string): string => fillIn(text, variables, new Set(), inputs);
  const base = typeof folder === "string" ? resolve(cwd, fill(folder)) : cwd;
  // An option may hold a path: `--require=./hook.js`.
  const words = getCommandWords(entry).flatMap((word) => [word, ...word.split("=").slice(1)]);
  const paths = words.map((word) => resolve(base, fill(word)));
  const files = typeof envFile === "string" ? [...paths, resolve(cwd, envFile)] : paths;
  const project = canonicalPath(cwd);
  return [...new Set(files.map(canonicalPath))].filter((path) => isInside(relative(project, path)) && isFile(path));
}

function isFile(path: string): boolean {
  try {
    return statSync(path).isFile();
  } catch {
    return false; // most arguments are not paths
  }
}
