import { resolve } from "node:path";

import { isRecord } from "../model/json.ts";
import { isMemberName } from "../model/names.ts";
import type { ServerConfig } from "../providers/mcp/index.ts";
import { badEntry, type Fields, fieldsOf, wrong } from "./fields.ts";
import { fillIn, type Variables } from "./variables.ts";

/** One server as a file declares it, in whatever dialect. */
export interface ServerEntry {
  readonly name: unknown;
  readonly entry: unknown;
  /** `.mcp.json:3` */
  readonly source: string;
}

export interface EntryScope {
  /** Where a server runs that does not say so itself. */
  readonly cwd: string;
  readonly variables: Variables;
}

/** What the dialects call the ways to reach a server. */
const TRANSPORTS: ReadonlyMap<string, ServerConfig["transport"]> = new Map([
  ["stdio", "stdio"],
  ["local", "stdio"],
  ["http", "http"],
  ["remote", "http"],
  ["streamablehttp", "http"],
  ["sse", "sse"],
]);

/**
 * Reads one server in any of the dialects: Claude, VS Code, Cursor, Windsurf, Gemini and opencode differ in the names of
 * a few keys. Keys that are not known are passed over. A bad entry throws a `CONFIG_INVALID`.
 */
export function parseServer({ name, entry, source }: ServerEntry, scope: EntryScope): ServerConfig {
  if (typeof name !== "string" || name.trim() === "") throw badEntry("MCP server name is required");
  if (!isRecord(entry)) throw wrong(name, "its entry must be an object");
  const missing = new Set<string>();
  const fields = fieldsOf(name, entry, (text) => fillIn(text, scope.variables, missing));
  const transport = transportOf(name, fields);
  const reached =
    transport === "stdio"
      ? { transport, ...processOf(name, fields, scope.cwd) }
      : { transport, ...endpointOf(name, transport, fields, missing) };
  return {
    name,
    source,
    ...reached,
    ...settingsOf(name, fields),
    ...(missing.size > 0 && { obstacle: `missing ${[...missing].join(", ")}` }),
    declared: entry,
  };
}

/** As the entry says itself, else by what it has. */
function transportOf(name: string, fields: Fields): ServerConfig["transport"] {
  const declared = fields.text("transport", "type");
  if (declared === undefined)
    return fields.texts("command").length === 0 && urlOf(fields) !== undefined ? "http" : "stdio";
  const transport = TRANSPORTS.get(declared.toLowerCase().replaceAll(/[-_]/g, ""));
  if (transport !== undefined) return transport;
  throw wrong(name, `transport ${JSON.stringify(declared)} is not known, use stdio, http or sse`);
}

function processOf(name: string, fields: Fields, cwd: string) {
  const [command = "", ...first] = fields.texts("command");
  if (command.trim() === "") throw wrong(name, "command is required for stdio transport");
  return {
    command,
    args: [...first, ...fields.texts("args")],
    env: { ...fields.textRecord("environment"), ...fields.textRecord("env") },
    cwd: resolve(cwd, fields.text("cwd") ?? ""),
  };
}

function endpointOf(name: string, transport: "http" | "sse", fields: Fields, missing: ReadonlySet<string>) {
  const url = urlOf(fields) ?? "";
  if (url.trim() === "") throw wrong(name, `url is required for ${transport} transport`);
  const headers = fields.textRecord("headers");
  if (missing.size === 0) {
    if (!/^https?:$/.test(protocolOf(url))) throw wrong(name, "url must begin with http:// or https://");
    for (const header of Object.entries(headers)) {
      if (!isHeader(header)) throw wrong(name, `header ${JSON.stringify(header[0])} is not a valid header`);
    }
  }
  return { url, headers };
}

function settingsOf(name: string, fields: Fields) {
  const description = fields.text("description");
  const skillName = fields.text("skillName");
  const timeoutSeconds = fields.positive("timeout");
  if (skillName !== undefined && !isMemberName(skillName)) {
    throw wrong(name, `skillName ${JSON.stringify(skillName)} cannot be the name of a skill`);
  }
  return {
    enabled: fields.flag("enabled") ?? fields.flag("disabled") !== true,
    ...(description !== undefined && { description }),
    ...(skillName !== undefined && { skillName }),
    ...(timeoutSeconds !== undefined && { timeoutMs: Math.ceil(timeoutSeconds * 1000) }),
    disabledTools: fields.texts("disabledTools"),
  };
}

function urlOf(fields: Fields): string | undefined {
  return fields.text("url", "serverUrl", "httpUrl");
}

function protocolOf(url: string): string {
  return URL.canParse(url) ? new URL(url).protocol : "";
}

function isHeader(header: [name: string, value: string]): boolean {
  try {
    return new Headers([header]).has(header[0]);
  } catch {
    return false; // what `Headers` refuses is no header
  }
}
