import { isUtf8 } from "node:buffer";
import { realpathSync } from "node:fs";
import { readFile, stat } from "node:fs/promises";
import { isAbsolute, relative, sep } from "node:path";

import { createError, getMessage, SkillgateError } from "../errors.ts";
import { isRecord } from "../model/json.ts";

/** Maximum size of a configuration file. */
const FILE_BYTES = 256 << 10;

/** Maximum size of a client's file: some clients keep their whole history in it. */
export const CLIENT_FILE_BYTES = 64 << 20;

/** The project's and the user's own. */
export interface ConfigFolders {
  readonly cwd: string;
  readonly home: string;
}

export interface ReadOptions {
  /** 256 KiB by default. */
  readonly maxBytes?: number;
  /** Leaves a byte order mark where it is. */
  readonly keepMark?: boolean;
}

/** Reads a configuration file, without a byte order mark; `undefined` if the file does not exist. */
export async function readConfigFile(
  path: string,
  label: string,
  { maxBytes = FILE_BYTES, keepMark = false }: ReadOptions = {},
): Promise<string | undefined> {
  try {
    const found = await stat(path);
    if (found.isCharacterDevice()) throw configError(label, "it is a device"); // it has no end
    if (found.size > maxBytes) throw configError(label, `it is larger than ${maxBytes >> 10} KiB`);
    const bytes = await readFile(path);
    if (!isUtf8(bytes)) throw configError(label, "it is not UTF-8 text; save it as UTF-8"); // an edit would lose characters
    const text = bytes.toString("utf8");
    return keepMark ? text : text.replace(/^\uFEFF/, "");
  } catch (thrown) {
    if (thrown instanceof SkillgateError) throw thrown;
    if (getErrorCode(thrown) === "ENOENT" || getErrorCode(thrown) === "ENOTDIR") return undefined;
    throw configError(label, READ_FAILURES.get(getErrorCode(thrown)) ?? getMessage(thrown));
  }
}

/** A `CONFIG_INVALID` that names the file, the place in it where one is known, and what is wrong. */
export function configError(label: string, wrong: string, location?: FileLocation, fix?: string): SkillgateError {
  const at = location === undefined ? "" : ` line ${location.line}, column ${location.column}`;
  return createError("CONFIG_INVALID", `${label}${at}: ${wrong}`, {
    file: label,
    ...location,
    ...(fix !== undefined && { fix }),
  });
}

/** Lines and columns of a file, both from 1. */
export interface FileLocation {
  readonly line: number;
  readonly column: number;
}

/** Formats a path for messages: relative to the project or to the home folder if it is inside. */
export function formatPathLabel(path: string, folders: ConfigFolders): string {
  const inProject = relative(folders.cwd, path);
  if (isInside(inProject)) return inProject;
  const inHome = relative(folders.home, path);
  return isInside(inHome) ? `~/${inHome.split(sep).join("/")}` : path;
}

const READ_FAILURES: ReadonlyMap<unknown, string> = new Map([
  ["EISDIR", "it is a folder"],
  ["EACCES", "this user may not read it"],
]);

function getErrorCode(thrown: unknown): unknown {
  return isRecord(thrown) ? thrown["code"] : undefined;
}

/** True for a relative path that stays inside its base folder. */
export function isInside(path: string): boolean {
  return path !== "" && path !== ".." && !path.startsWith(`..${sep}`) && !isAbsolute(path);
}

/** Resolves symbolic links, so that each file has one path. */
export function canonicalPath(path: string): string {
  try {
    return realpathSync(path);
  } catch {
    return path; // the file does not exist
  }
}
