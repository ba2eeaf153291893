import { watch } from "node:fs";
import { basename, dirname } from "node:path";

/** Editors write a file in several steps; changes within this time are one change. */
const DEBOUNCE_MS = 60;

/**
 * Calls back after each change of a file, also when it appears or is replaced. Its folder must exist. Returns a function
 * that stops the watch.
 */
export function watchFile(file: string, onChange: () => void, onFailure: (error: unknown) => void): () => void {
  let quiet: NodeJS.Timeout | undefined;
  try {
    // The folder: a file that is replaced by another is no longer the one that was watched.
    const watcher = watch(dirname(file), { persistent: false }, (_, name) => {
      if (name !== basename(file)) return;
      clearTimeout(quiet);
      quiet = setTimeout(onChange, DEBOUNCE_MS);
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
