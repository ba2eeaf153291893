import { createRequire } from "node:module";
import { delimiter, dirname, join, relative, resolve } from "node:path";

import { canonicalPath } from "./approvals.ts";
import { type Folders, isInside, labelOf } from "./file.ts";
import type { Environment } from "./variables.ts";

/** Where a server is declared: named on the command line, in the project, or in the user's own file. */
export type Scope = "named" | "project" | "user";

/** A file that is read for servers. */
export interface ConfigFile {
  /** Absolute. */
  readonly path: string;
  readonly label: string;
  readonly scope: Scope;
  /** The user has written or chosen it, or has said that its folder is to be trusted. */
  readonly isTrusted: boolean;
}

export interface FileOptions {
  readonly env: Environment;
  readonly settingsFile?: string;
  readonly mcpConfigFile?: string;
}

export interface ConfigFiles {
  readonly settings: ConfigFile;
  /** The files of servers in their order. */
  readonly mcp: readonly ConfigFile[];
}

/** The files to read. Of the servers in them, the first of a name counts; the settings come after what was named. */
export function configFiles({ env, settingsFile, mcpConfigFile }: FileOptions, folders: Folders): ConfigFiles {
  const isTrusted = trusts(env, folders);
  const named = (path: string): ConfigFile => {
    return { path: resolve(folders.cwd, path), label: path, scope: "named", isTrusted: true };
  };
  const inProject = (name: string): ConfigFile => {
    const path = join(folders.cwd, name);
    return { path, label: labelOf(path, folders), scope: "project", isTrusted };
  };
  return {
    settings: settingsFile === undefined ? inProject("settings.yaml") : named(settingsFile),
    mcp: [
      ...(mcpConfigFile === undefined ? [] : [named(mcpConfigFile)]),
      inProject("mcp.json"),
      inProject(".mcp.json"),
      userFile(folders),
    ],
  };
}

export function userFile(folders: Folders): ConfigFile {
  const path = join(folders.home, ".config", "mcp", "mcp.json");
  return { path, label: labelOf(path, folders), scope: "user", isTrusted: true };
}

/** The checkout or the installation that this code itself is from: who runs it trusts it already. */
const OWN_FOLDER = canonicalPath(dirname(createRequire(import.meta.url).resolve("skillgate/package.json")));

/** Folders whose files need no approval: `/home/ada/src:/work`. */
const TRUSTED_FOLDERS = "SKILLGATE_TRUSTED_FOLDERS";

/** What is in the home folder itself is the user's; what is in a folder below may have come from anywhere. */
function trusts(env: Environment, folders: Folders): boolean {
  const cwd = canonicalPath(folders.cwd);
  if (cwd === canonicalPath(folders.home) || cwd === OWN_FOLDER) return true;
  const named = (env[TRUSTED_FOLDERS] ?? "").split(delimiter).filter((folder) => folder !== "");
  return named.map(canonicalPath).some((folder) => folder === cwd || isInside(relative(folder, cwd)));
}
