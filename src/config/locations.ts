import { createHash } from "node:crypto";
import { existsSync } from "node:fs";
import { createRequire } from "node:module";
import { homedir } from "node:os";
import { basename, delimiter, dirname, join, relative, resolve } from "node:path";

import { canonicalPath, type ConfigFolders, isInside, formatPathLabel } from "./read-file.ts";
import type { Environment } from "./variables.ts";

/**
 * Where a server is declared: in a file that was named, in the project, in the user's file for this project alone, or in
 * the user's file for all projects.
 */
export type ConfigScope = "named" | "project" | "local" | "user";

/** A file that is read for servers. */
export interface ConfigFile {
  /** Absolute. */
  readonly path: string;
  readonly label: string;
  readonly scope: ConfigScope;
}

export interface ConfigOptions {
  /** The project: where its files are, and where its servers run. */
  readonly cwd: string;
  readonly env: Environment;
  /** The folder of the user's own files; by default, that of the system's user. */
  readonly home?: string;
  /** In place of `settings.yaml`; must exist. */
  readonly settingsFile?: string;
  /** Read in addition to the default files, and takes precedence; must exist. */
  readonly mcpConfigFile?: string;
  /** Reads no default files of settings and servers. Variables of `.env` count. */
  readonly readsOnlyNamed?: boolean;
  /** The calling program has chosen the project itself: nothing is held. */
  readonly isTrusted?: boolean;
  /** The skills of the project are not used. */
  readonly hasOtherSkills?: boolean;
}

export interface ConfigLocations {
  readonly settings: ConfigFile;
  /** The files of servers in their order. */
  readonly mcp: readonly ConfigFile[];
  /** The number of `mcp` files that come before the settings. */
  readonly first: number;
}

/** The files to read. Of the servers in them, the first of a name counts; the settings come after what is the user's. */
export function configFiles(
  { settingsFile, mcpConfigFile, readsOnlyNamed = false }: ConfigOptions,
  folders: ConfigFolders,
): ConfigLocations {
  const fromOption = (path: string): ConfigFile => {
    return { path: resolve(folders.cwd, path), label: path, scope: "named" };
  };
  const inProject = (name: string): ConfigFile => {
    const path = join(folders.cwd, name);
    return { path, label: formatPathLabel(path, folders), scope: "project" };
  };
  const ofUser = (scope: ConfigScope, ...names: readonly string[]): ConfigFile => {
    const path = join(folders.home, ".config", ...names);
    return { path, label: formatPathLabel(path, folders), scope };
  };
  const extra = mcpConfigFile === undefined ? [] : [fromOption(mcpConfigFile)];
  const settings = settingsFile === undefined ? inProject("settings.yaml") : fromOption(settingsFile);
  if (readsOnlyNamed) return { settings, mcp: extra, first: extra.length };
  const first = [...extra, ofUser("local", "skillgate", "projects", `${getProjectName(folders)}.json`)];
  // A usual file that was named is read once, as one that was named.
  const usual = [inProject("mcp.json"), inProject(".mcp.json"), ofUser("user", "mcp", "mcp.json")].filter(
    ({ path }) => !first.some((file) => canonicalPath(file.path) === canonicalPath(path)),
  );
  return { settings, mcp: [...first, ...usual], first: first.length };
}

/** Returns the labels of the configuration files that exist. */
export function existingFiles(options: ConfigOptions): readonly string[] {
  const folders = resolveFolders(options);
  const { settings, mcp } = configFiles(options, folders);
  const variables = { path: join(folders.cwd, ".env"), label: ".env" };
  return [settings, ...mcp, variables].filter(({ path }) => existsSync(path)).map(({ label }) => label);
}

/** Returns the absolute paths of the files that decide what a project runs, except skills. Some may not exist. */
export function listConfigFiles(options: ConfigOptions): readonly string[] {
  const folders = resolveFolders(options);
  const { settings, mcp } = configFiles(options, folders);
  const others = [".env", ...RESTRICTING_POLICY_FILES].map((name) => join(folders.cwd, name));
  return [settings.path, ...mcp.map(({ path }) => path), ...others];
}

/** The files of the policy that only its owner changes; approvals of the owner are added to the third one. */
const RESTRICTING_POLICY_FILES = ["policies/tools.yaml", "policies/roles.yaml"];

/** `shop-5f0c1a2b3c4d` */
function getProjectName({ cwd }: ConfigFolders): string {
  const path = canonicalPath(cwd);
  const digest = createHash("sha256").update(path).digest("hex").slice(0, 12);
  return `${basename(path).replaceAll(/[^\w-]+/g, "-")}-${digest}`;
}

/** The checkout or installation of this code: a user who runs it already trusts it. */
const OWN_FOLDER = ownFolder();

/** Environment variable with folders whose projects are trusted without a prompt: `/home/ada/src:/work`. */
const TRUSTED_FOLDERS = "SKILLGATE_TRUSTED_FOLDERS";

/**
 * True for a project that needs no record of trust. What is in the home folder itself is the user's; what is in a folder
 * below may have come from anywhere.
 */
export function isTrustGiven({ env, isTrusted = false }: ConfigOptions, folders: ConfigFolders): boolean {
  const cwd = canonicalPath(folders.cwd);
  if (isTrusted || cwd === canonicalPath(folders.home) || cwd === OWN_FOLDER) return true;
  if (env["SKILLGATE_UNAPPROVED"] === "start") return true;
  const trustedFolders = (env[TRUSTED_FOLDERS] ?? "").split(delimiter).filter((folder) => folder !== "");
  return trustedFolders.map(canonicalPath).some((folder) => folder === cwd || isInside(relative(folder, cwd)));
}

/** `undefined` where this code is part of another program's bundle. */
function ownFolder(): string | undefined {
  try {
    return canonicalPath(dirname(createRequire(import.meta.url).resolve("skillgate/package.json")));
  } catch {
    return undefined;
  }
}

export function resolveFolders({ cwd, home, env }: Pick<ConfigOptions, "cwd" | "home" | "env">): ConfigFolders {
  return { cwd: resolve(cwd), home: home ?? env["HOME"] ?? homedir() };
}
