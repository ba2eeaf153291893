import { resolve } from "node:path";

import { sentence, SkillgateError } from "../errors.ts";
import type { Client } from "../model/client-requests.ts";
import { isRecord } from "../model/json.ts";
import type { Authorize, McpProviderOptions } from "../providers/mcp/index.ts";
import { getUserStateDir } from "./user-state-dir.ts";

export const MCP_STARTS = ["at once", "when needed"] as const;
export const MCP_CHANGES = ["report", "hold"] as const;

/** Options for MCP servers. The settings file has the same under `mcp`, with `idle` in seconds. */
export interface McpServerOptions {
  /**
   * Folder for logins, for what servers offer and for what of it was accepted; `false` for none. With `discover` the
   * user's own (`~/.local/state/skillgate`), otherwise none by default.
   */
  readonly stateDir?: string | false;
  /** Servers that are known from an earlier time are started at once, or by their first call; with `lazy`, the latter. */
  readonly start?: "at once" | "when needed";
  /** Milliseconds without a call after which a server is stopped, until its next call; never by default. */
  readonly idleMs?: number;
  /** A tool whose definition is not what was accepted is reported (the default), or held back until it is accepted. */
  readonly changes?: "report" | "hold";
  /** Takes the user to the page on which they allow access to a server; without it, only earlier logins are used. */
  readonly authorize?: Authorize;
  /** Answers what servers ask (elicitation, sampling, roots), in a program with a single user. */
  readonly client?: Client;
}

/** @deprecated Use `McpServerOptions`. */
export type ServerUse = McpServerOptions;

export interface McpServerScope {
  readonly section: unknown;
  readonly cwd: string;
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly discover: boolean;
  readonly lazy: boolean;
}

/** Returns the program's options, else those of the settings file, else the defaults. Throws `OPTION_INVALID`. */
export function resolveMcpOptions(
  use: McpServerOptions = {},
  scope: McpServerScope,
): Pick<McpProviderOptions, "stateDir" | "start" | "idleMs" | "changes" | "authorize" | "client"> {
  const section = isRecord(scope.section) ? scope.section : {};
  const idle = use.idleMs ?? (section["idle"] === undefined ? undefined : Number(section["idle"]) * 1000);
  if (idle !== undefined && !(idle > 0)) throw invalid("mcp.idle", "a positive number", section["idle"] ?? use.idleMs);
  const stateDir = use.stateDir ?? (scope.discover ? getUserStateDir(scope.env) : undefined);
  const { authorize, client } = use;
  return {
    start: parseChoice("mcp.start", MCP_STARTS, use.start ?? section["start"]) ?? resolveStart(scope),
    changes: parseChoice("mcp.changes", MCP_CHANGES, use.changes ?? section["changes"]) ?? "report",
    ...(idle !== undefined && { idleMs: idle }),
    ...(stateDir !== undefined && stateDir !== false && { stateDir: resolve(scope.cwd, stateDir) }),
    ...(authorize !== undefined && { authorize }),
    ...(client !== undefined && { client }),
  };
}

function resolveStart({ lazy }: McpServerScope): "at once" | "when needed" {
  return lazy ? "when needed" : "at once";
}

function parseChoice<Word extends string>(name: string, words: readonly Word[], value: unknown): Word | undefined {
  const word = words.find((each) => each === value);
  if (word === undefined && value !== undefined) throw invalid(name, words.join(" or "), value);
  return word;
}

function invalid(name: string, expected: string, value: unknown): SkillgateError {
  const values = `${name} must be ${expected}, not ${JSON.stringify(value)}`;
  return new SkillgateError("OPTION_INVALID", sentence("OPTION_INVALID", values));
}
