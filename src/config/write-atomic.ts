import { randomUUID } from "node:crypto";
import { open, realpath, rename, rm, stat } from "node:fs/promises";
import { dirname } from "node:path";
import { setTimeout as pause } from "node:timers/promises";

import { SkillgateError } from "../errors.ts";
import { isRecord } from "../model/json.ts";
import { CLIENT_FILE_BYTES, readConfigFile } from "./read-file.ts";
import { makeFolder } from "../shared/files/make-folder.ts";

/** A lock older than this is stale: its process has died. */
const LOCK_LIVES_MS = 5_000;
const LOCK_PAUSE_MS = 20;

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
    await using _lock = await lock(`${target}.lock`);
    const before = await readConfigFile(target, label, { keepMark: true, maxBytes: CLIENT_FILE_BYTES });
    const after = change(before);
    if (after !== undefined && after !== before) await replace(target, after, isPrivate ? PRIVATE : SHARED);
  } catch (thrown) {
    if (thrown instanceof SkillgateError || !isRecord(thrown) || typeof thrown["syscall"] !== "string") throw thrown;
    const why = whyNotWritten(thrown["code"]);
    throw new SkillgateError("CONFIG_INVALID", `Cannot change ${label}: ${why}`, { file: label, fix: WRITE_FIX });
  }
}

async function replace(path: string, text: string, newFileMode: number): Promise<void> {
  const mode = await stat(path).then(
    ({ mode }) => mode & 0o7777,
    () => newFileMode,
  );
  const draft = `${path}.${randomUUID()}.tmp`;
  try {
    const file = await open(draft, "wx", mode);
    try {
      await file.chmod(mode); // independent of the umask
      await file.writeFile(text);
      await file.sync();
    } finally {
      await file.close();
    }
    await rename(draft, path);
  } finally {
    await rm(draft, { force: true });
  }
}

async function lock(path: string): Promise<AsyncDisposable> {
  for (;;) {
    try {
      await (await open(path, "wx", PRIVATE)).close();
      return { [Symbol.asyncDispose]: () => rm(path, { force: true }) };
    } catch (thrown) {
      if (!isRecord(thrown) || thrown["code"] !== "EEXIST") throw thrown;
    }
    const age = await stat(path).then(
      ({ mtimeMs }) => Date.now() - mtimeMs,
      () => 0, // the lock has been released
    );
    if (age > LOCK_LIVES_MS) await rm(path, { force: true });
    else await pause(LOCK_PAUSE_MS);
  }
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
  ["ENOTDIR", "its folder is a file"],
  ["EEXIST", "its folder is a file"],
]);
