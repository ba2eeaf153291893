import { rename, rm, stat, writeFile } from "node:fs/promises";
import { basename } from "node:path";

/** Renames a damaged file and its log of writes, so that nothing of it is lost, and says so. */
export async function moveAside(file: string, warn: (text: string, aside: string) => void): Promise<void> {
  const aside = `${file}.damaged-${new Date().toISOString().replaceAll(/[:.]/g, "-")}`;
  // The log of writes first: it belongs to no other file.
  for (const part of ["-wal", "-shm", ""]) await renameIfThere(file + part, aside + part);
  await clearMark(file);
  warn(
    `The store ${file} was damaged. Its file is now ${basename(aside)}, and a new store was created. ` +
      `Restore a backup with: skillgate store restore FILE`,
    aside,
  );
}

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

/** Returns false if there is no file of the name. */
export async function renameIfThere(from: string, to: string): Promise<boolean> {
  try {
    await rename(from, to);
    return true;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== "ENOENT") throw error;
    return false;
  }
}
