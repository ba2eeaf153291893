import { LOG_LEVEL_META_KEY, type LoggingLevel, type ServerContext } from "@modelcontextprotocol/server";
import type { ConnectedClient } from "./sessions/client-session.ts";
import type { Caller } from "../../model/caller.ts";
import type { RunObserver } from "../../model/run-observer.ts";
import type { ReadContext } from "../../model/mcp-features.ts";
import type { CallContext } from "../../model/skill.ts";
import type { WorkContext } from "./sessions/multi-turn-requests.ts";

/** How what is said while a request is under way reaches whoever has made it. */
export interface NotificationSink {
  /** Absent where nobody wants to hear of progress. */
  readonly progressToken?: string | number;
  /** Whether words of this level are wanted. */
  readonly isEnabled: (level: LoggingLevel) => boolean;
  readonly notify: (
    method: "notifications/progress" | "notifications/message",
    params: Readonly<Record<string, unknown>>,
  ) => Promise<void>;
}

/** What an old client has asked for with `logging/setLevel`; a new one says it with each request. */
export interface LogLevelState {
  level: LoggingLevel | undefined;
}

export function createNotificationSink(
  { mcpReq }: ServerContext,
  era: ConnectedClient["era"],
  logLevel: LogLevelState,
): NotificationSink {
  const { _meta: meta, notify } = mcpReq;
  const envelope: Readonly<Record<string, unknown>> = mcpReq.envelope ?? {};
  return {
    ...(meta?.progressToken !== undefined && { progressToken: meta.progressToken }),
    isEnabled:
      era === "legacy"
        ? (level) => isLevelEnabled(logLevel.level ?? "debug", level)
        : createLevelFilter(envelope[LOG_LEVEL_META_KEY]),
    notify: (method, params) => notify({ method, params }),
  };
}

/** In the protocol of 2026, who does not say what it wants to hear wants nothing. */
export function createLevelFilter(threshold: unknown): NotificationSink["isEnabled"] {
  return (level) => typeof threshold === "string" && isLevelEnabled(threshold, level);
}

export function isLevelEnabled(threshold: string, level: LoggingLevel): boolean {
  return LEVELS.indexOf(level) >= LEVELS.findIndex((each) => each === threshold);
}

export const LEVELS: readonly LoggingLevel[] = [
  "debug",
  "info",
  "notice",
  "warning",
  "error",
  "critical",
  "alert",
  "emergency",
];

/** What methods say on the way, as notifications to whoever made the request. */
export interface Notifier {
  readonly log: (level: Parameters<CallContext["log"]>[0], text: string, logger: string) => void;
  /** Steps that a client sees only grow; one that would not is left out. */
  readonly progress: (done: number, total?: number, text?: string) => void;
}

export function createNotifier(line: () => NotificationSink): Notifier {
  let last = -Infinity;
  return {
    log(level, text, logger) {
      const { isEnabled, notify } = line();
      if (!isEnabled(MCP_LEVELS[level])) return;
      void notify("notifications/message", { level: MCP_LEVELS[level], logger, data: text }).catch(ignoreFailure);
    },
    progress(done, total, message) {
      const { progressToken, notify } = line();
      if (progressToken === undefined || !(done > last)) return;
      last = done;
      const params = {
        progressToken,
        progress: done,
        ...(total !== undefined && { total }),
        ...(message !== undefined && { message }),
      };
      void notify("notifications/progress", params).catch(ignoreFailure);
    },
  };
}

/** The client may have gone; its request ends by itself. */
function ignoreFailure(): void {}

const MCP_LEVELS: Readonly<Record<Parameters<CallContext["log"]>[0], LoggingLevel>> = {
  debug: "debug",
  info: "info",
  warn: "warning",
  error: "error",
};

/** Tells a client of one method that it has called as a tool. */
export function observeCall({ client, notifications }: WorkContext): RunObserver {
  const notifier = createNotifier(notifications);
  return {
    client,
    log: (path, level, text) => notifier.log(level, text, path),
    progress: (_path, done, total, text) => notifier.progress(done, total, text),
  };
}

/** Tells a client of a run: a step for each call that begins, goes on, and ends. */
export function observeRun({ client, notifications }: WorkContext): RunObserver {
  const notifier = createNotifier(notifications);
  let steps = 0;
  const step = (text: string): void => notifier.progress(++steps, undefined, text);
  return {
    client,
    onOutput: (text) => notifier.log("info", text, "run_code"),
    onCallStart: (path) => step(`${path} …`),
    onCallEnd: ({ skill, method, outcome, durationMs }) =>
      step(`${skill}.${method} ${outcome} (${Math.round(durationMs)} ms)`),
    log: (path, level, text) => notifier.log(level, text, path),
    progress: (path, done, total, text) =>
      step(`${path} ${text ?? ""} ${done}${total === undefined ? "" : `/${total}`}`),
  };
}

/** The same for reading a resource and getting a prompt. */
export function createReadContext(caller: Caller, { client, notifications, cancellable }: WorkContext): ReadContext {
  const notifier = createNotifier(notifications);
  return {
    caller,
    signal: cancellable.signal,
    client,
    log: (level, text) => notifier.log(level, text, "skillgate"),
    progress: notifier.progress,
  };
}
