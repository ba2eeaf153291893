import { watch } from "node:fs";
import { basename, dirname } from "node:path";

/** Editors write a file in several steps; changes within this time are one change. */
const DEBOUNCE_MS = 60;

/**
 * Calls back after each change of a file, also when it appears or is replaced. Its folder must exist. Returns a function
 * that stops the watch.
 */
export function watchFile(file: string, onChange: () => void, onFailure: (error: unknown) => void): () => void {
  // The folder: a file that is replaced by another is no longer the one that was watched.
  return watchFolder(dirname(file), (name) => name === basename(file), { onChange, onFailure });
}

/**
 * Calls back `settleMs` milliseconds after the last of some changes of the files of a folder whose names `isMeant` accepts.
 * Returns a function that stops the watch.
 */
export function watchFolder(
  folder: string,
  isMeant: (name: string) => boolean,
  { onChange, onFailure }: { readonly onChange: () => void; readonly onFailure: (error: unknown) => void },
  settleMs = DEBOUNCE_MS,
): () => void {
  let quiet: NodeJS.Timeout | undefined;
  try {
    const watcher = watch(folder, { persistent: false }, (_, name) => {
      if (name === null || !isMeant(name)) return;
      clearTimeout(quiet);
      quiet = setTimeout(onChange, settleMs);
    });
    watcher.on("error", onFailure);
    return () => {
      clearTimeout(quiet);
      watcher.close();
    };
  } catch (error) {
    onFailure(error);
    return () => {};
  }
}
