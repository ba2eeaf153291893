import type { CallRecord } from "../../model/outcome.ts";
import type { Problem } from "../../model/provider.ts";
import type { LogLevel } from "../../model/skill.ts";
import type { Runtime } from "../../runtime.ts";
import type { LogListener } from "../../runtime/options.ts";
import { setBounded } from "../../shared/lru.ts";
import type { KnownSecrets } from "../../shared/secrets.ts";
import { getTraceIds } from "../../telemetry/index.ts";
import type { Paint } from "./terminal/terminal.ts";
import { logLine, problemText, warningsText } from "./text/output.ts";

/** How a server writes its log to stderr. */
export type LogFormat = "text" | "json";

/** The log of a server, on stderr. */
export interface ServeLog {
  readonly format: LogFormat;
  /** Writes a line, unless the text is empty. */
  readonly say: (text: string, level?: LogLevel) => void;
  /** Writes a line with a secret that the reader is given. */
  readonly sayUnmasked: (text: string) => void;
  readonly warn: (problems: readonly Problem[]) => void;
  /** Receives the log of the runtime: what skills and MCP servers say. */
  readonly listener: LogListener;
  /** Masks the secrets of a runtime from now on; as JSON, writes its runs and calls, too. */
  follow(runtime: Runtime): void;
}

interface LogOptions {
  /**
   * As text, the warnings and errors of the server itself are written, at most `MAX_LINES` a minute; with `--verbose` the whole
   * log is, also that of skills and MCP servers. As JSON, all but `debug` is written, and with `--verbose` that, too.
   */
  readonly isVerbose: boolean;
  readonly paint: Paint;
}

export function openServeLog(format: LogFormat, options: LogOptions): ServeLog {
  return format === "json" ? createJsonLog(options) : createTextLog(options);
}

function createTextLog({ isVerbose, paint }: LogOptions): ServeLog {
  const write = (text: string): void => void process.stderr.write(text);
  const writeLimited = limitLines(write, (dropped) =>
    logLine(
      { level: "warn", text: `${dropped} further warnings in the last minute; --verbose writes all`, path: undefined },
      paint,
    ),
  );
  const isRepeated = createRepetitionCheck();
  return {
    format: "text",
    say: (text) => text !== "" && write(`${text}\n`),
    sayUnmasked: (text) => write(`${text}\n`),
    warn(problems) {
      const news = problems.filter(({ error }) => !isRepeated(error));
      if (news.length > 0) write(`${warningsText(news, paint)}\n`);
    },
    listener(level, text, path) {
      const isOwn = path === undefined && (level === "warn" || level === "error");
      if (isVerbose) write(logLine({ level, text, path }, paint));
      else if (isOwn && !isRepeated(text)) writeLimited(logLine({ level, text, path }, paint));
    },
    follow: () => {},
  };
}

/** Lines of the server itself in one minute. */
const MAX_LINES = 20;
const MINUTE_MS = 60_000;

/** Returns a function that writes at most `MAX_LINES` lines in a minute, and at its end how many others there were. */
function limitLines(write: (text: string) => void, describe: (dropped: number) => string): (line: string) => void {
  let lines = 0;
  return (line) => {
    if (lines === 0)
      setTimeout(() => {
        if (lines > MAX_LINES) write(describe(lines - MAX_LINES));
        lines = 0;
      }, MINUTE_MS).unref();
    if (lines++ < MAX_LINES) write(line);
  };
}

/**
 * Returns a function that tells whether a text, or the cause that it names after its first colon, was written within the last
 * minute: several parts of the server report one failure of the store.
 */
function createRepetitionCheck(): (text: string) => boolean {
  const times = new Map<string, number>();
  return (text) => {
    const now = performance.now();
    const causes = [text, text.replace(/^[^:]*: /, "")];
    if (causes.some((cause) => now - (times.get(cause) ?? -Infinity) < MINUTE_MS)) return true;
    for (const cause of causes) setBounded(times, [cause, now], MAX_CAUSES);
    return false;
  };
}

/** Texts that are remembered, so that a flood of different ones takes neither memory nor time. */
const MAX_CAUSES = 100;

/** Writes one object a line, with the ids of the trace and the span that the line belongs to. */
function createJsonLog({ isVerbose }: LogOptions): ServeLog {
  let secrets: KnownSecrets | undefined;
  const writeUnmasked = (level: LogLevel, msg: string, facts: object = {}): void => {
    if (level === "debug" && !isVerbose) return;
    const head = { level, time: new Date().toISOString(), pid: process.pid, ...getTraceIds() };
    process.stderr.write(`${JSON.stringify({ ...head, ...facts, msg })}\n`);
  };
  const write = (level: LogLevel, text: string, facts?: object): void =>
    writeUnmasked(level, secrets?.maskText(text) ?? text, facts);
  return {
    format: "json",
    say: (text, level = "info") => text !== "" && write(level, text),
    sayUnmasked: (text) => writeUnmasked("info", text),
    warn(problems) {
      for (const problem of problems) write("warn", problemText(problem), { fix: problem.fix });
    },
    listener: (level, text, path) => write(level, text, path === undefined ? {} : { path }),
    follow(runtime) {
      ({ secrets } = runtime);
      runtime.on("call", ({ path, outcome, code, durationMs, runId, callId, caller }) =>
        write(toLevel(outcome), "call", { path, outcome, code, durationMs, runId, callId, caller }),
      );
      runtime.on("run", (outcome) => {
        const code = outcome.kind === "failed" ? outcome.error.code : undefined;
        write("info", "run", { runId: outcome.runId, outcome: outcome.kind, code });
      });
    },
  };
}

function toLevel(outcome: CallRecord["outcome"]): LogLevel {
  return outcome === "ok" ? "info" : "warn";
}
