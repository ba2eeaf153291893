import type { LoggingLevel } from "@modelcontextprotocol/server";

import type { Caller } from "../../model/caller.ts";
import type { Follower } from "../../model/follower.ts";
import type { OfferContext } from "../../model/offers.ts";
import type { CallContext } from "../../model/skill.ts";
import type { Side } from "./conversations.ts";
import type { Line } from "./line.ts";

/** What methods say on the way, as notifications to whoever made the request. */
export interface News {
  readonly log: (level: Parameters<CallContext["log"]>[0], text: string, logger: string) => void;
  /** Steps that a client sees only grow; one that would not is left out. */
  readonly progress: (done: number, total?: number, text?: string) => void;
}

export function newsTo(line: () => Line): News {
  let last = -Infinity;
  return {
    log(level, text, logger) {
      const { hears, notify } = line();
      if (!hears(LEVELS[level])) return;
      void notify("notifications/message", { level: LEVELS[level], logger, data: text }).catch(nobodyListens);
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
      void notify("notifications/progress", params).catch(nobodyListens);
    },
  };
}

/** The client may have gone; its request ends by itself. */
function nobodyListens(): void {}

const LEVELS: Readonly<Record<Parameters<CallContext["log"]>[0], LoggingLevel>> = {
  debug: "debug",
  info: "info",
  warn: "warning",
  error: "error",
};

/** Tells a client of one method that it has called as a tool. */
export function followCall({ client, line }: Side): Follower {
  const news = newsTo(line);
  return {
    client,
    log: (path, level, text) => news.log(level, text, path),
    progress: (_path, done, total, text) => news.progress(done, total, text),
  };
}

/** Tells a client of a run: a step for each call that begins, goes on, and ends. */
export function followRun({ client, line }: Side): Follower {
  const news = newsTo(line);
  let steps = 0;
  const step = (text: string): void => news.progress(++steps, undefined, text);
  return {
    client,
    output: (text) => news.log("info", text, "run_code"),
    began: (path) => step(`${path} …`),
    ended: ({ skill, method, outcome, durationMs }) =>
      step(`${skill}.${method} ${outcome} (${Math.round(durationMs)} ms)`),
    log: (path, level, text) => news.log(level, text, path),
    progress: (path, done, total, text) =>
      step(`${path} ${text ?? ""} ${done}${total === undefined ? "" : `/${total}`}`),
  };
}

/** The same for reading a resource and getting a prompt. */
export function offerContext(caller: Caller, { client, line, cancellable }: Side): OfferContext {
  const news = newsTo(line);
  return {
    caller,
    signal: cancellable.signal,
    client,
    log: (level, text) => news.log(level, text, "skillgate"),
    progress: news.progress,
  };
}
