import { statSync } from "node:fs";

/** Milliseconds between two looks at the inodes, which take a fifth of the time of a commit. */
const LOOK_EVERY_MS = 10;

/** Returns the function that says whether the file and its log of writes are still the present ones. */
export function identifyFiles(file: string): () => boolean {
  const names = [file, `${file}-wal`];
  let inodes = names.map(getInode);
  let isSame = inodes[0] !== undefined;
  let lookedAt = -Infinity;
  return () => {
    if (!isSame || performance.now() - lookedAt < LOOK_EVERY_MS) return isSame;
    lookedAt = performance.now();
    const current = names.map(getInode);
    // The log of writes may be created after the file was opened.
    isSame = inodes.every((inode, at) => inode === undefined || inode === current[at]);
    inodes = current;
    return isSame;
  };
}

/** Returns `undefined` if there is no file of the name. */
export function getInode(file: string): number | undefined {
  return statSync(file, { throwIfNoEntry: false })?.ino;
}
