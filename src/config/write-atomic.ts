import { realpath, stat } from "node:fs/promises";
import { dirname } from "node:path";

import { SkillgateError } from "../errors.ts";
import { isRecord } from "../model/json.ts";
import { withLock } from "../shared/files/lock.ts";
import { makeFolder } from "../shared/files/make-folder.ts";
import { replaceFile } from "../shared/files/replace-file.ts";
import { CLIENT_FILE_BYTES, readConfigFile } from "./read-file.ts";

/** The time for which one program waits for another that changes the same file. */
const LOCK_MS = 15_000;

/** The modes of a file that only its owner may read, and of one that others may read. */
const PRIVATE = 0o600;
const SHARED = 0o644;

export interface FileOptions {
  /** The name of the file in messages. */
  readonly label: string;
  /** A new file is readable only by its owner. */
  readonly isPrivate: boolean;
}

/**
 * Changes a file: it has either its old text or all of the new one, at any moment, and keeps its mode. A link stays a
 * link. Two programs that do this at once wait for each other. `change` gets `undefined` for a file that is not there,
 * and whatever it throws, or `undefined`, leaves the file as it was.
 */
export async function changeFile(
  path: string,
  { label, isPrivate }: FileOptions,
  change: (text: string | undefined) => string | undefined,
): Promise<void> {
  try {
    const target = await realpath(path).catch(() => path); // the file does not exist yet
    await makeFolder(dirname(target), isPrivate ? 0o700 : 0o755);
    await withChangeLock(`${target}.lock`, label, async () => {
      const before = await readConfigFile(target, label, { keepMark: true, maxBytes: CLIENT_FILE_BYTES });
      const after = change(before);
      if (after === undefined || after === before) return;
      const mode = await stat(target).then(
        (file) => file.mode & 0o7777,
        () => (isPrivate ? PRIVATE : SHARED),
      );
      await replaceFile(target, after, mode);
    });
  } catch (thrown) {
    throw toChangeError(thrown, label);
  }
}

/** Converts an error of the file system to a `CONFIG_INVALID`; any other error stays as it is. */
export function toChangeError(thrown: unknown, label: string): unknown {
  if (thrown instanceof SkillgateError || !isRecord(thrown) || typeof thrown["syscall"] !== "string") return thrown;
  const why = whyNotWritten(thrown["code"]);
  return new SkillgateError("CONFIG_INVALID", `Cannot change ${label}: ${why}`, { file: label, fix: WRITE_FIX });
}

/** Changes something while no other program does. Throws `CONFIG_INVALID` if another one does not end. */
export async function withChangeLock<Result>(
  lock: string,
  label: string,
  work: () => Promise<Result>,
): Promise<Result> {
  return withLock(lock, LOCK_MS, work).catch((thrown: unknown) => {
    throw thrown instanceof SkillgateError && thrown.code === "LOCK_TIMEOUT" ? createLockedError(label, lock) : thrown;
  });
}

function createLockedError(label: string, lock: string): SkillgateError {
  const fix = `Try again, or remove ${lock} if no other program is changing the file`;
  return new SkillgateError("CONFIG_INVALID", `Cannot change ${label}: another program is changing it`, {
    file: label,
    fix,
  });
}

const WRITE_FIX = "Make the file writable, or name another file";

/** Describes an error code of the operating system for a failed write. */
export function whyNotWritten(code: unknown): string {
  return WRITE_FAILURES.get(code) ?? String(code);
}

const WRITE_FAILURES: ReadonlyMap<unknown, string> = new Map([
  ["EACCES", "this user may not write there"],
  ["EPERM", "this user may not write there"],
  ["EROFS", "the file system is read-only"],
  ["ENOSPC", "the disk is full"],
  ["ENOENT", "its folder does not exist"],
  ["ENOTDIR", "its folder is a file"],
  ["EEXIST", "its folder is a file"],
]);
