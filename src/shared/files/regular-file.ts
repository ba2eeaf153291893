import { readFileSync, statSync } from "node:fs";

/** Reads a file of a project, which may be from elsewhere. Throws for a link to a device or a pipe: they have no end. */
export function readRegularFile(file: string): Buffer {
  if (!statSync(file).isFile()) throw new TypeError(`${file} is not a regular file`);
  return readFileSync(file);
}

/** False also for a path below a file, and for one that may not be read. */
export function isRegularFile(path: string): boolean {
  try {
    return statSync(path, { throwIfNoEntry: false })?.isFile() === true;
  } catch {
    return false;
  }
}
