import { rename, rm, stat, writeFile } from "node:fs/promises";
import { basename } from "node:path";

import { withLock } from "../lock.ts";

interface MoveOptions {
  readonly lockMs: number;
  readonly warn: (text: string) => void;
}

/**
 * Renames a damaged file and its log of writes, so that nothing of it is lost, and says so. Of several processes that find
 * the damage, one moves the file: `isStillDamaged` decides again while the others wait.
 */
export async function moveAside(
  file: string,
  { lockMs, warn }: MoveOptions,
  isStillDamaged: () => Promise<boolean>,
): Promise<void> {
  await withLock(`${file}.lock`, Math.max(lockMs, MIN_LOCK_MS), async () => {
    if (!(await isStillDamaged())) return;
    const suffix = `.damaged-${new Date().toISOString().replaceAll(/[:.]/g, "-")}`;
    await moveFilesAside(file, suffix);
    const aside = file + suffix;
    await clearMark(file);
    warn(
      `The store ${file} was damaged. Its file is now ${basename(aside)}, and a new store was created. ` +
        `Restore a backup with: skillgate store restore FILE`,
    );
  });
}

const MIN_LOCK_MS = 5_000;

/** Notes that damage was found in a part of the file that opening it does not read. */
export async function markDamaged(file: string): Promise<void> {
  // Without the note, the next start finds the damage where it is used.
  await writeFile(markPath(file), "", { mode: 0o600 }).catch(() => {});
}

export async function hasDamageMark(file: string): Promise<boolean> {
  return (await stat(markPath(file)).catch(() => undefined)) !== undefined;
}

/** Removes the note after the file was found intact. */
export async function clearMark(file: string): Promise<void> {
  await rm(markPath(file), { force: true });
}

function markPath(file: string): string {
  return `${file}.check`;
}

/** Renames a file of SQLite, after its log of writes, which belongs to no other file. Returns false if it is not there. */
export async function moveFilesAside(
  file: string,
  suffix: string,
  parts: readonly string[] = ["-wal", "-shm", ""],
): Promise<boolean> {
  let isMoved = false;
  for (const part of parts) isMoved = await renameIfThere(file + part, file + suffix + part);
  return isMoved;
}

async function renameIfThere(from: string, to: string): Promise<boolean> {
  try {
    await rename(from, to);
    return true;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== "ENOENT") throw error;
    return false;
  }
}
