import type { LogEntry, Progress, Runtime } from "../../../runtime.ts";
import { truncateText } from "../../../shared/format-text.ts";
import type { CliSession } from "../session.ts";
import { escaped } from "../text/layout.ts";

/** Erases the line of the cursor. */
const ERASE_LINE = "\r\u001B[2K";
const DEFAULT_COLUMNS = 80;

/**
 * Shows what skills and MCP servers print while a command runs, and the latest progress in one line; only on a terminal,
 * and not with `--json`. Returns a function that ends this.
 */
export function showLiveOutput(runtime: Runtime, { flags, paint }: CliSession): () => void {
  const { stderr } = process;
  if (!stderr.isTTY || flags.json) return () => {};
  let hasProgress = false;
  const eraseProgress = (): void => {
    if (hasProgress) stderr.write(ERASE_LINE);
    hasProgress = false;
  };
  const onLog = ({ level, text, path, isThrown }: LogEntry): void => {
    eraseProgress();
    // With --verbose, the log is written already. The stack of an error is shown with the error.
    if (flags.verbose || isThrown || path === undefined || level === "debug") return;
    const rows = text.trimEnd().split("\n");
    for (const row of rows) stderr.write(`${paint.err.dim(`${escaped(path)}: ${escaped(row)}`)}\n`);
  };
  const onProgress = (progress: Progress): void => {
    const row = truncateText(formatProgress(progress), (stderr.columns || DEFAULT_COLUMNS) - 1);
    stderr.write(`${ERASE_LINE}${paint.err.dim(row)}`);
    hasProgress = true;
  };
  const stops = [runtime.on("log", onLog), runtime.on("progress", onProgress)];
  return () => {
    for (const stop of stops) stop();
    eraseProgress();
  };
}

/** `WeatherSkill.now 3/10 cities` */
function formatProgress({ path, done, total, text = "" }: Progress): string {
  const steps = total === undefined ? String(done) : `${done}/${total}`;
  return escaped([path, steps, text].filter(Boolean).join(" "));
}
