import { existsSync, readFileSync, renameSync, writeFileSync } from "node:fs";

import type { Loaded } from "./messages.ts";
import { parseLoaded } from "./parse-report.ts";

/** Bytes of a stored import that are read at most. */
const MAX_BYTES = 4 << 20;

/**
 * Stores what the import of a bundle has found, in a file beside the bundle. A changed module has another bundle. Does nothing
 * for an import in which something failed: the cause may lie outside of the module.
 */
export function storeImport(bundle: string, loaded: Loaded): void {
  if (loaded.failures.length > 0 || loaded.classes.some((failure) => failure !== undefined)) return;
  const file = getFile(bundle);
  const text = JSON.stringify({ ...loaded, classes: loaded.classes.length });
  try {
    if (existsSync(file) && readFileSync(file, "utf8") === text) return;
    writeFileSync(`${file}.${process.pid}`, text, { mode: 0o600 });
    renameSync(`${file}.${process.pid}`, file);
  } catch {
    // The disk is full or read-only: the next command imports the module again.
  }
}

/** Returns what an earlier import of a bundle has found; `undefined` if that is not known. */
export function readImport(bundle: string): Loaded | undefined {
  try {
    const text = readFileSync(getFile(bundle), "utf8");
    const stored = JSON.parse(text) as Readonly<Record<string, unknown>>;
    const classes = Number(stored["classes"]);
    if (text.length > MAX_BYTES || !Number.isInteger(classes) || classes < 0 || classes > 10_000) return undefined;
    return parseLoaded({ ...stored, classes: Array.from({ length: classes }) });
  } catch {
    return undefined; // missing or damaged
  }
}

function getFile(bundle: string): string {
  return `${bundle}.import`;
}
