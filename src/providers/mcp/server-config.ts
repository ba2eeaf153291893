import type { OAuthConfig } from "./oauth/config.ts";

/** How to reach one MCP server, as a file or a program declared it; placeholders are already filled in. */
export type ServerConfig = StdioServerConfig | RemoteServerConfig;

/** A server that runs as a child process and speaks over its stdin and stdout. */
export interface StdioServerConfig extends CommonServerConfig {
  readonly transport: "stdio";
  readonly command: string;
  readonly args: readonly string[];
  /** What the child gets besides the minimal environment. */
  readonly env: Readonly<Record<string, string>>;
  /** Absolute. */
  readonly cwd: string;
  /** The user's own: what `npx` starts for it is not looked up in `cwd`, which may be a project of somebody else. */
  readonly isOfUser?: true;
}

/** A server behind a URL: Streamable HTTP, or the older transport over server-sent events. */
export interface RemoteServerConfig extends CommonServerConfig {
  readonly transport: "http" | "sse";
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
  /** `false` for a server that must never be logged in to. */
  readonly oauth?: OAuthConfig | false;
}

interface CommonServerConfig {
  readonly name: string;
  /** Where it was declared, for people: `.mcp.json:3`, `settings.yaml:12`. */
  readonly source: string;
  readonly enabled: boolean;
  /** Says what the server is for, in place of the server's own words. */
  readonly description?: string;
  /** The name of its skill, in place of the one that follows from `name`. */
  readonly skillName?: string;
  /** Tools, by their names on the wire, that are not offered. */
  readonly disabledTools: readonly string[];
  /** Of each call of its tools. */
  readonly timeoutMs?: number;
  /** Why it cannot start although its entry is well-formed: `missing environment variable API_KEY`. */
  readonly obstacle?: string;
  /** The entry as it was written, with its placeholders. */
  readonly declared: Readonly<Record<string, unknown>>;
}
