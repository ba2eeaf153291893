import type { LogLevel } from "../model/skill.ts";

/** The levels of MCP, which are those of syslog, the least severe first; each with the level that stands for it here. */
const LEVELS = {
  debug: "debug",
  info: "info",
  notice: "info",
  warning: "warn",
  error: "error",
  critical: "error",
  alert: "error",
  emergency: "error",
} as const;

export type McpLogLevel = keyof typeof LEVELS;

export const MCP_LOG_LEVELS = Object.keys(LEVELS) as readonly McpLogLevel[];

/** Reads a level from another program: a level of MCP or of Skillgate; others count as `info`. */
export function toLogLevel(level: unknown): LogLevel {
  if (level === "warn") return level;
  return MCP_LOG_LEVELS.map((each) => (each === level ? LEVELS[each] : undefined)).find(Boolean) ?? "info";
}

export function toMcpLogLevel(level: LogLevel): McpLogLevel {
  return level === "warn" ? "warning" : level;
}
