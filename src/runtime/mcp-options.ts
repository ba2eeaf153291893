import { resolve } from "node:path";

import { RUNTIME_SECTION_SCHEMAS } from "../config/index.ts";
import { createError } from "../errors.ts";
import type { Client } from "../model/client-requests.ts";
import { isRecord } from "../model/json.ts";
import type { Authorize, McpProviderOptions } from "../providers/mcp/index.ts";
import { findSettingMistakes } from "../shared/settings/check-settings.ts";
import { getUserStateDir } from "./user-state-dir.ts";

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
  const section = parseSection(scope.section);
  const idleMs = use.idleMs ?? (section.idle === undefined ? undefined : section.idle * 1_000);
  const stateDir = use.stateDir ?? (scope.discover ? getUserStateDir(scope.env) : undefined);
  const { authorize, client } = use;
  return {
    start: use.start ?? section.start ?? (scope.lazy ? "when needed" : "at once"),
    changes: use.changes ?? section.changes ?? "report",
    ...(idleMs !== undefined && { idleMs }),
    ...(stateDir !== undefined && stateDir !== false && { stateDir: resolve(scope.cwd, stateDir) }),
    ...(authorize !== undefined && { authorize }),
    ...(client !== undefined && { client }),
  };
}

interface McpSection extends Pick<McpServerOptions, "start" | "changes"> {
  readonly idle?: number;
}

/** Returns the settings of the section `mcp` that say when servers run. Throws `OPTION_INVALID`. */
function parseSection(written: unknown): McpSection {
  if (!isRecord(written)) return {};
  const { start, changes, idle } = written;
  const section = { start, changes, idle };
  const [mistake] = findSettingMistakes(RUNTIME_SECTION_SCHEMAS.mcp, section, ["mcp"]);
  if (mistake === undefined) return section as McpSection;
  throw createError("OPTION_INVALID", mistake.error);
}
