import { LOG_LEVEL_META_KEY, type LoggingLevel, type ServerContext } from "@modelcontextprotocol/server";
import type { ConnectedClient } from "./sessions/client-session.ts";
import type { Caller } from "../../model/caller.ts";
import type { RunObserver } from "../../model/run-observer.ts";
import type { ReadContext } from "../../model/mcp-features.ts";
import type { CallContext } from "../../model/skill.ts";
import { MCP_LOG_LEVELS, toMcpLogLevel } from "../../shared/log-levels.ts";
import { withoutGaps } from "../../shared/json/without-gaps.ts";
import type { WorkContext } from "./sessions/multi-turn-request.ts";

/** Sends notifications of a request in progress to the client that made it. */
export interface NotificationSink {
  /** Absent if the client did not ask for progress. */
  readonly progressToken?: string | number;
  /** Whether the client wants log messages of this level. */
  readonly isEnabled: (level: LoggingLevel) => boolean;
  readonly notify: (
    method: "notifications/progress" | "notifications/message",
    params: Readonly<Record<string, unknown>>,
  ) => Promise<void>;
}

/** Log level that an older client set with `logging/setLevel`; a 2026 client sends it in each request. */
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

/** Filters log messages by the level in a request. In the 2026 protocol, a request without a level gets none. */
export function createLevelFilter(threshold: unknown): NotificationSink["isEnabled"] {
  return (level) => typeof threshold === "string" && isLevelEnabled(threshold, level);
}

export function isLevelEnabled(threshold: string, level: LoggingLevel): boolean {
  return MCP_LOG_LEVELS.indexOf(level) >= MCP_LOG_LEVELS.findIndex((each) => each === threshold);
}

/** Sends log messages and progress of methods as notifications. */
export interface Notifier {
  readonly log: (logger: string, ...words: Parameters<CallContext["log"]>) => void;
  /** Reports progress; skips a value that is not greater than the last one, as MCP requires. */
  readonly progress: (done: number, total?: number, text?: string) => void;
}

export function createNotifier(line: () => NotificationSink): Notifier {
  let last = -Infinity;
  return {
    log(path, level, text, sent) {
      const { isEnabled, notify } = line();
      const { level: sentLevel, logger = path, data = text } = sent ?? {};
      const mcpLevel = MCP_LOG_LEVELS.find((each) => each === sentLevel) ?? toMcpLogLevel(level);
      if (isEnabled(mcpLevel))
        void notify("notifications/message", { level: mcpLevel, logger, data }).catch(ignoreFailure);
    },
    progress(done, total, message) {
      const { progressToken, notify } = line();
      if (progressToken === undefined || !(done > last)) return;
      last = done;
      const params = withoutGaps({ progressToken, progress: done, total, message });
      void notify("notifications/progress", params).catch(ignoreFailure);
    },
  };
}

/** Ignores a failed notification: the client may have disconnected, and its request ends by itself. */
function ignoreFailure(): void {}

/** Observes the call of one method as a tool, and notifies the client. */
export function observeCall({ client, requestValues, notifications }: WorkContext): RunObserver {
  const notifier = createNotifier(notifications);
  return {
    client,
    ...(requestValues && { requestValues }),
    log: notifier.log,
    progress: (_path, done, total, text) => notifier.progress(done, total, text),
  };
}

/**
 * Observes a run, and notifies the client of each call that starts, progresses and ends. The calls of a program get only the named
 * members of `_meta`: the client sent it for the program, and does not know which servers that calls.
 */
export function observeRun(
  { client, requestValues, notifications }: WorkContext,
  passMeta: readonly string[],
): RunObserver {
  const notifier = createNotifier(notifications);
  let steps = 0;
  const step = (text: string): void => notifier.progress(++steps, undefined, text);
  const values = requestValues?.selectMeta((name) => passMeta.includes(name));
  return {
    client,
    ...(values && { requestValues: values }),
    onOutput: (text) => notifier.log("run_code", "info", text),
    onCallStart: (path) => step(`${path} …`),
    onCallEnd: ({ skill, method, outcome, durationMs }) =>
      step(`${skill}.${method} ${outcome} (${Math.round(durationMs)} ms)`),
    log: notifier.log,
    progress: (path, done, total, text) =>
      step(`${path} ${text ?? ""} ${done}${total === undefined ? "" : `/${total}`}`),
  };
}

/** Creates the context for reading a resource or getting a prompt. */
export function createReadContext(
  caller: Caller,
  { client, requestValues, notifications, cancellable }: WorkContext,
): ReadContext {
  const notifier = createNotifier(notifications);
  return {
    caller,
    signal: cancellable.signal,
    client,
    ...(requestValues && { requestValues }),
    log: (level, text, sent) => notifier.log("skillgate", level, text, sent),
    progress: notifier.progress,
  };
}
