import { createHash, randomUUID } from "node:crypto";
import { readFileSync, renameSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { makeFolderSync } from "./files/make-folder.ts";

/** Values by key, as plain data. What is got was not looked at yet. A `Map` will do for one process. */
export interface KeyValueCache {
  get(key: string): unknown;
  set(key: string, value: unknown): unknown;
}

/** Keeps each value in a file of its own, in a folder that only its owner can read. What cannot be written is forgotten. */
export function createFileCache(folder: string, onBroken: (file: string) => void = () => {}): KeyValueCache {
  const getFilePath = (key: string): string => join(folder, `${createHash("sha256").update(key).digest("hex")}.json`);
  return {
    get(key) {
      try {
        return JSON.parse(readFileSync(getFilePath(key), "utf8")) as unknown;
      } catch (error) {
        if (error instanceof SyntaxError) onBroken(getFilePath(key));
        return undefined; // missing or broken: the caller creates it again
      }
    },
    set(key, value) {
      const draft = join(folder, randomUUID());
      try {
        makeFolderSync(folder, 0o700);
        writeFileSync(draft, JSON.stringify(value), { mode: 0o600 });
        renameSync(draft, getFilePath(key));
      } catch {
        // The value cannot be stored: the next start takes longer, and knows less.
      }
    },
  };
}
