import { type FSWatcher, watch } from "node:fs";
import { readdir } from "node:fs/promises";
import { dirname, join } from "node:path";

/** Editors write a file in several steps; what comes within this time is one change. */
const DEBOUNCE_MS = 60;
/** A file that keeps changing is looked at after this time all the same. */
const MAX_DELAY_MS = 500;

export interface Watch {
  /** Watches these folders from now on, and no others. Returns whether some of them are new. */
  follow(folders: ReadonlySet<string>): boolean;
  close(): void;
}

/** Tells of changes in folders, each watched by itself: not every system can watch a whole tree. */
export function watchFolders(onChange: () => void, onFailure: (error: unknown) => void): Watch {
  const watchers = new Map<string, FSWatcher>();
  let quiet: NodeJS.Timeout | undefined;
  let firstAt = 0;

  function changed(): void {
    const now = performance.now();
    if (quiet === undefined) firstAt = now;
    clearTimeout(quiet);
    const left = Math.max(0, firstAt + MAX_DELAY_MS - now);
    quiet = setTimeout(
      () => {
        quiet = undefined;
        onChange();
      },
      Math.min(DEBOUNCE_MS, left),
    );
  }

  function drop(folder: string): void {
    watchers.get(folder)?.close();
    watchers.delete(folder);
  }

  return {
    follow(folders) {
      for (const folder of watchers.keys()) if (!folders.has(folder)) drop(folder);
      const added = [...folders].filter((folder) => !watchers.has(folder));
      for (const folder of added) {
        try {
          const watcher = watch(folder, { persistent: false }, changed);
          watcher.on("error", () => drop(folder));
          watchers.set(folder, watcher);
        } catch (error) {
          onFailure(error);
        }
      }
      return added.some((folder) => watchers.has(folder));
    },
    close() {
      clearTimeout(quiet);
      for (const folder of watchers.keys()) drop(folder);
    },
  };
}

const MAX_FOLDERS = 2_000;

/**
 * The folders in which a change may matter: those of the skills folder, and those of files that skills import from
 * elsewhere. While there is no skills folder, the one in which it would appear.
 */
export async function foldersToWatch(root: string, files: readonly string[]): Promise<ReadonlySet<string>> {
  const folders = new Set<string>(files.map((file) => dirname(file)));
  const open = [root];
  for (let folder = open.pop(); folder !== undefined && folders.size < MAX_FOLDERS; folder = open.pop()) {
    const entries = await readdir(folder, { withFileTypes: true }).catch(() => undefined);
    if (entries === undefined) continue;
    folders.add(folder);
    const inner = entries.filter(
      (entry) => entry.isDirectory() && entry.name !== "node_modules" && !entry.name.startsWith("."),
    );
    open.push(...inner.map(({ name }) => join(folder, name)));
  }
  return folders.has(root) ? folders : new Set([...folders, dirname(root)]);
}
