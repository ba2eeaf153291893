import { OWNER } from "../../../model/caller.ts";
import type { LogEntry } from "../../../runtime.ts";
import type { RuntimeView } from "../../../runtime/api/view.ts";
import { cutText } from "../../../shared/format-text.ts";
import type { LogLine } from "../messages.ts";

/** The newest lines of the log of a server, in memory. */
export interface LogLines {
  /** Adds a line without secrets. */
  add(entry: LogEntry): void;
  /** Lists the lines that a caller may see, all or those of one run; the oldest first. */
  list(view: RuntimeView, runId?: string): readonly LogLine[];
}

const MAX_LINES = 1_000;

/** UTF-16 units of a line. */
const MAX_UNITS = 4_000;

export function createLogLines(now: () => number = Date.now): LogLines {
  let lines: LogLine[] = [];
  let lastId = 0;
  return {
    add({ level, text, path = null, runId = null, isThrown = false }) {
      lines.push({ id: ++lastId, time: now(), level, text: cutText(text, MAX_UNITS), path, runId, isThrown });
      if (lines.length >= MAX_LINES * 2) lines = lines.slice(-MAX_LINES);
    },
    list: (view, runId) =>
      lines.slice(-MAX_LINES).filter((line) => (runId === undefined || line.runId === runId) && isVisible(line, view)),
  };
}

/** Stacks have paths of this machine: they are for the owner. */
function isVisible({ path, isThrown }: LogLine, view: RuntimeView): boolean {
  if (!view.may("Read") || (isThrown && view.caller.id !== OWNER.id)) return false;
  return path === null || view.seesCall({ caller: "", path });
}
