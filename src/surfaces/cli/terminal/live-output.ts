import type { LogEntry, Progress, Runtime } from "../../../runtime.ts";
import { truncateText } from "../../../shared/format-text.ts";
import type { CliSession } from "../session.ts";
import { escaped } from "../text/layout.ts";

/** Erases the line of the cursor. */
const ERASE_LINE = "\r\u001B[2K";
const DEFAULT_COLUMNS = 80;

/** Shows what a command receives while it runs. */
export interface LiveOutput {
  readonly onLog: (this: void, entry: LogEntry) => void;
  readonly onProgress: (this: void, progress: Progress) => void;
  readonly end: (this: void) => void;
}

/**
 * Creates the output of what skills and MCP servers print while a command runs, and of the latest progress in one line;
 * `undefined` without a terminal, and with `--json`.
 */
export function createLiveOutput({ flags, paint }: Pick<CliSession, "flags" | "paint">): LiveOutput | undefined {
  const { stderr } = process;
  if (!stderr.isTTY || flags.json) return undefined;
  let hasProgress = false;
  const eraseProgress = (): void => {
    if (hasProgress) stderr.write(ERASE_LINE);
    hasProgress = false;
  };
  return {
    onLog({ level, text, path, isThrown }) {
      eraseProgress();
      // With --verbose, the log is written already. The stack of an error is shown with the error.
      if (flags.verbose || isThrown || path === undefined || level === "debug") return;
      const rows = text.trimEnd().split("\n");
      for (const row of rows) stderr.write(`${paint.err.dim(`${escaped(path)}: ${escaped(row)}`)}\n`);
    },
    onProgress(progress) {
      const row = truncateText(formatProgress(progress), (stderr.columns || DEFAULT_COLUMNS) - 1);
      stderr.write(`${ERASE_LINE}${paint.err.dim(row)}`);
      hasProgress = true;
    },
    end: eraseProgress,
  };
}

/** Shows the live output of a runtime. Returns a function that ends this. */
export function showLiveOutput(runtime: Runtime, session: CliSession): () => void {
  const output = createLiveOutput(session);
  if (output === undefined) return () => {};
  const stops = [runtime.on("log", output.onLog), runtime.on("progress", output.onProgress)];
  return () => {
    for (const stop of stops) stop();
    output.end();
  };
}

/** `WeatherSkill.now 3/10 cities` */
function formatProgress({ path, done, total, text = "" }: Progress): string {
  const steps = total === undefined ? String(done) : `${done}/${total}`;
  return escaped([path, steps, text].filter(Boolean).join(" "));
}
