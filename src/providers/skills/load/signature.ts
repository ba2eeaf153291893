import { type Stats, statSync } from "node:fs";

/** Margin for file systems that stamp a change slightly too early. */
const STAMP_MS = 10;

/**
 * Returns a text that changes with the files. It is empty if a file changed after `since`, in milliseconds: it is unknown which
 * version was read.
 */
export function computeSignature(files: readonly string[], since = Infinity): string {
  const stamps = files.map((file) => {
    const facts = statOrUndefined(file);
    return facts === undefined
      ? { text: `${file} gone`, at: 0 }
      : { text: `${file} ${facts.mtimeMs} ${facts.size}`, at: facts.mtimeMs };
  });
  return stamps.some(({ at }) => at > since - STAMP_MS) ? "" : stamps.map(({ text }) => text).join("\n");
}

function statOrUndefined(file: string): Stats | undefined {
  try {
    return statSync(file);
  } catch {
    // Deleted and unreachable files are treated alike.
    return undefined;
  }
}
