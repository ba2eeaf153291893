import { type FSWatcher, watch } from "node:fs";
import { readdir } from "node:fs/promises";
import { dirname, join } from "node:path";

/** Events within this time count as one change, because editors write a file in several steps. */
const DEBOUNCE_MS = 60;
/** Maximum delay for a file that keeps changing. */
const MAX_DELAY_MS = 500;

export interface Watch {
  /** Watches exactly these folders from now on. Returns whether some of them are new. */
  follow(folders: ReadonlySet<string>): boolean;
  close(): void;
}

/** Reports changes in folders. Watches each folder separately, because not every system can watch a tree. */
export function watchFolders(onChange: () => void, onFailure: (error: unknown) => void): Watch {
  const watchers = new Map<string, FSWatcher>();
  let quiet: NodeJS.Timeout | undefined;
  let firstAt = 0;

  function changed(): void {
    const now = performance.now();
    if (quiet === undefined) firstAt = now;
    clearTimeout(quiet);
    const remainingMs = Math.max(0, firstAt + MAX_DELAY_MS - now);
    quiet = setTimeout(
      () => {
        quiet = undefined;
        onChange();
      },
      Math.min(DEBOUNCE_MS, remainingMs),
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
 * Returns the folders to watch: the skills folder with its subfolders, and the folders of files that skills import. If
 * the skills folder does not exist, its parent.
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
