import { chmod } from "node:fs/promises";
import { join } from "node:path";

import { changeFile, readConfigFile } from "../../../config/index.ts";
import { getMessage } from "../../../errors.ts";
import type { CliSession } from "../session.ts";

/** The most lines in the file, and the longest line that it takes, in UTF-16 units. */
const MAX_LINES = 1_000;
const MAX_LINE_UNITS = 2_000;

const MAX_BYTES = 8 << 20;

/** The lines that the user has typed, in a file of the project's state folder that only its owner can read. */
export interface LineHistory {
  /** The newest first. */
  readonly lines: readonly string[];
  /** Adds lines, the oldest first. */
  add(lines: readonly string[]): void;
  /** Settles when everything is written. */
  flush(): Promise<void>;
}

/**
 * Opens the history in the file `name`. `mask` removes secrets; a file that cannot be used is reported once, and then left
 * alone.
 */
export async function openLineHistory(
  session: CliSession,
  name: string,
  mask: (text: string) => string,
): Promise<LineHistory> {
  const { store } = await session.folders();
  const path = join(store, name);
  const label = "the history";
  let isUsable = true;
  let last: Promise<void> = Promise.resolve();
  const giveUp = (thrown: unknown): void => {
    if (isUsable) session.write("err", `${session.paint.err.yellow(`Warning: ${getMessage(thrown)}`)}\n`);
    isUsable = false;
  };
  const text = await readConfigFile(path, label, { maxBytes: MAX_BYTES }).catch(giveUp);
  if (text !== undefined) await chmod(path, 0o600).catch(giveUp);
  const recalled = [...splitLines(text ?? "")].reverse();
  const append = (added: readonly string[]): Promise<void> =>
    changeFile(path, { label, isPrivate: true }, (before = "") => {
      const all = [...splitLines(before), ...added];
      return `${all.slice(-MAX_LINES).join("\n")}\n`;
    });
  return {
    lines: recalled,
    add(lines) {
      const added = lines.filter((line) => line.trim() !== "" && line.length <= MAX_LINE_UNITS).map(mask);
      if (added.length === 0) return;
      recalled.unshift(...added.toReversed());
      last = last.then(() => (isUsable ? append(added) : undefined)).catch(giveUp);
    },
    flush: () => last,
  };
}

function splitLines(text: string): readonly string[] {
  return text.split("\n").filter((line) => line !== "");
}
