import { appendFileSync, chmodSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { dirname } from "node:path";

import { getMessage } from "../../../errors.ts";
import { isRecord } from "../../../model/json.ts";
import { UsageError } from "../usage-error.ts";

/** Lines of the history that can be recalled. */
const MAX_LINES = 1_000;

/** The lines that a person typed, in a file that only its owner can read. */
export interface ChatHistory {
  /** The newest first. */
  readonly lines: readonly string[];
  add(line: string): void;
}

/** Opens the history in a file, which may not exist. Throws a `UsageError` if it cannot be read or written. */
export function openHistory(file: string, maskText: (text: string) => string): ChatHistory {
  const stored = prepareFile(file);
  const recalled = stored.slice(-MAX_LINES).reverse();
  return {
    get lines() {
      return recalled;
    },
    add(line) {
      const masked = maskText(line);
      if (line.trim() === "" || masked === recalled[0]) return;
      recalled.unshift(masked);
      appendFileSync(file, `${masked}\n`, { mode: 0o600 });
    },
  };
}

/** Returns the lines of the file, and shortens it when it has become long. */
function prepareFile(file: string): readonly string[] {
  try {
    mkdirSync(dirname(file), { recursive: true, mode: 0o700 });
    const stored = readFileSync(file, "utf8").split("\n").filter(Boolean);
    chmodSync(file, 0o600);
    if (stored.length > 2 * MAX_LINES) writeFileSync(file, `${stored.slice(-MAX_LINES).join("\n")}\n`);
    return stored;
  } catch (thrown) {
    if (isRecord(thrown) && thrown["code"] === "ENOENT") return [];
    throw new UsageError(`Cannot open the history ${JSON.stringify(file)}: ${getMessage(thrown)}`);
  }
}
