import { LOG_LEVEL_META_KEY, type LoggingLevel, type ServerContext } from "@modelcontextprotocol/server";

import type { Peer } from "./peer.ts";

/** How what is said while a request is under way reaches whoever has made it. */
export interface Line {
  /** Absent where nobody wants to hear of progress. */
  readonly progressToken?: string | number;
  /** Whether words of this level are wanted. */
  readonly hears: (level: LoggingLevel) => boolean;
  readonly notify: (
    method: "notifications/progress" | "notifications/message",
    params: Readonly<Record<string, unknown>>,
  ) => Promise<void>;
}

/** What an old client has asked for with `logging/setLevel`; a new one says it with each request. */
export interface Ears {
  level: LoggingLevel | undefined;
}

export function lineOf({ mcpReq }: ServerContext, era: Peer["era"], ears: Ears): Line {
  const { _meta: meta, notify } = mcpReq;
  const envelope: Readonly<Record<string, unknown>> = mcpReq.envelope ?? {};
  return {
    ...(meta?.progressToken !== undefined && { progressToken: meta.progressToken }),
    hears: era === "legacy" ? (level) => hears(ears.level ?? "debug", level) : hearsOf(envelope[LOG_LEVEL_META_KEY]),
    notify: (method, params) => notify({ method, params }),
  };
}

/** In the protocol of 2026, who does not say what it wants to hear wants nothing. */
export function hearsOf(threshold: unknown): Line["hears"] {
  return (level) => typeof threshold === "string" && hears(threshold, level);
}

export function hears(threshold: string, level: LoggingLevel): boolean {
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
