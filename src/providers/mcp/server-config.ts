import type { ToolOverride } from "../../model/tools/tool-definition.ts";
import type { OAuthConfig } from "./oauth/config.ts";

/** The configuration of one MCP server, with its placeholders filled in. */
export type ServerConfig = StdioServerConfig | RemoteServerConfig;

/** A server that runs as a child process and communicates over its stdin and stdout. */
export interface StdioServerConfig extends CommonServerConfig {
  readonly transport: "stdio";
  readonly command: string;
  readonly args: readonly string[];
  /** Variables in addition to the minimal environment. */
  readonly env: Readonly<Record<string, string>>;
  /** Absolute. */
  readonly cwd: string;
  /** Declared by the user: `npx` does not resolve its package in `cwd`, which may be an untrusted project. */
  readonly isOfUser?: true;
}

/** A server behind a URL: Streamable HTTP, or the older transport over server-sent events. */
export interface RemoteServerConfig extends CommonServerConfig {
  readonly transport: "http" | "sse";
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
  /** `false` disables login. */
  readonly oauth?: OAuthConfig | false;
  /** The account with whose credential requests are made, of each caller its own. */
  readonly account?: string;
}

/** Returns the account with which requests to a server are made; `undefined` for a server without one. */
export function getAccountName(config: ServerConfig): string | undefined {
  return config.transport === "stdio" ? undefined : config.account;
}

/** True if a server can be used only for a caller: with values of its request, or with its account. */
export function dependsOnCaller(config: ServerConfig): boolean {
  return config.fromRequest !== undefined || getAccountName(config) !== undefined;
}

/** `legacy`: a version before 2026-07-28. `modern`: 2026-07-28. `auto`: the newest that the server supports. */
export type ProtocolChoice = "auto" | "legacy" | "modern";

/** `json`: a text that is a JSON object or array becomes that value. `text`: every text stays a string. */
export type TextForm = "json" | "text";

export interface TextSetting {
  /** For all tools of the server that are not named. */
  readonly default: TextForm;
  /** By the protocol name of the tool. */
  readonly tools: Readonly<Record<string, TextForm>>;
}

export function getTextForm({ text }: Pick<ServerConfig, "text">, tool: string): TextForm {
  if (text === undefined) return "json";
  return Object.hasOwn(text.tools, tool) ? (text.tools[tool] ?? text.default) : text.default;
}

/** True if the entry of a server offers a tool. */
export function isToolEnabled(
  { enabledTools, disabledTools }: Pick<ServerConfig, "enabledTools" | "disabledTools">,
  tool: string,
): boolean {
  const isNamed = (patterns: readonly string[]): boolean => patterns.some((pattern) => matchesPattern(tool, pattern));
  return (enabledTools === undefined || isNamed(enabledTools)) && !isNamed(disabledTools);
}

function matchesPattern(name: string, pattern: string): boolean {
  const [first = "", ...rest] = pattern.split("*");
  const last = rest.pop();
  if (last === undefined) return name === pattern;
  if (!name.startsWith(first)) return false;
  let end = first.length;
  for (const part of rest) {
    const at = name.indexOf(part, end);
    if (at === -1) return false;
    end = at + part.length;
  }
  return name.length - last.length >= end && name.endsWith(last);
}

/** The commands whose outputs are parts of a configuration. */
export interface CommandSecrets {
  /** By the text that stands for the output in the configuration: the program and its arguments. */
  readonly words: Readonly<Record<string, readonly string[]>>;
  /** The working directory. Absolute. */
  readonly cwd: string;
  /** Declared by the user: the commands get the whole environment. */
  readonly isOfUser?: true;
}

/** A value of the session of a caller, as an entry names it. */
export interface SessionTemplate {
  /** `project` of `${session.project}` */
  readonly name: string;
  /** Stands in for a value that a request does not have. */
  readonly fallback?: string;
}

/** The parts of a configuration that come from the request of a caller. */
export interface RequestParts {
  /** By the text that stands for the value in the configuration. */
  readonly templates: Readonly<Record<string, SessionTemplate>>;
  /** Names of the headers that are forwarded, in lower case. */
  readonly passHeaders: readonly string[];
}

interface CommonServerConfig {
  readonly name: string;
  /** Where it is declared, for display: `.mcp.json:3`, `settings.yaml:12`. */
  readonly source: string;
  readonly enabled: boolean;
  /** Replaces the server's own description. */
  readonly description?: string;
  /** The name of its skill; by default, derived from `name`. */
  readonly skillName?: string;
  /** Protocol names of the only tools that are offered, where `*` stands for any characters; `undefined` for all. */
  readonly enabledTools?: readonly string[];
  /** Protocol names of the tools that are not offered. */
  readonly disabledTools: readonly string[];
  /** Names, titles and descriptions in place of those of the server, by the protocol name of the tool. */
  readonly toolOverrides?: Readonly<Record<string, ToolOverride>>;
  /** Commands whose outputs are filled in when the server starts. */
  readonly commands?: CommandSecrets;
  /** The parts that are filled in for each caller; absent for a server that is the same for all callers. */
  readonly fromRequest?: RequestParts;
  /** The conversion of a result that consists of one text; `json` by default. */
  readonly text?: TextSetting;
  /** Time limit of each tool call. */
  readonly timeoutMs?: number;
  /** The generation of the protocol to use; `auto` by default. */
  readonly protocol?: ProtocolChoice;
  /** Why it cannot start although its entry is well-formed: `missing environment variable API_KEY`. */
  readonly obstacle?: string;
  /** The entry as it was written, with its placeholders. */
  readonly declared: Readonly<Record<string, unknown>>;
}
