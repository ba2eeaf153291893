import { homedir } from "node:os";
import { relative, resolve } from "node:path";

import { isRecord } from "../../model/json.ts";
import { isMemberName } from "../../shared/names/skill-names.ts";
import { suggestNames } from "../../shared/suggest.ts";
import type { CommandSecrets, ProtocolChoice, ServerConfig, TextForm, TextSetting } from "../../providers/mcp/index.ts";
import type { Path } from "../documents/index.ts";
import { BadEntry, type Fields, createFieldReader, entryError } from "./entry-fields.ts";
import { canonicalPath, isInside, type FileLocation } from "../read-file.ts";
import { URL_KEYS } from "./entry-keys.ts";
import { parseAccount, parseOAuth, refuseAccount } from "./oauth-entry.ts";
import { replaceCommands, type SecretCommands } from "./command-placeholders.ts";
import { parseRequestParts } from "./request-parts.ts";
import { replaceTemplates, type SessionTemplates } from "./session-placeholders.ts";
import { parseToolOverrides } from "./tool-overrides.ts";
import { findToolObjection, getToolLists, type ToolLists } from "./tool-selection.ts";
import { fillIn, readEnvFile, type Variables, withoutRefused } from "../variables.ts";

/** One server as a file declares it, in any dialect. */
export interface ServerEntry {
  readonly name: unknown;
  readonly entry: unknown;
  /** The name of the file in messages. */
  readonly label: string;
  /** Where in the file the entry is. */
  readonly path: Path;
  /** The line and column of something inside of the entry; of `[]`, those of the entry itself. */
  locate(inside: Path): FileLocation;
}

export interface EntryScope {
  /** The default working directory of servers. */
  readonly cwd: string;
  readonly variables: Variables;
  /** The answers to `${input:id}`. */
  readonly inputs?: Variables;
  /** A server of the user takes nothing from the files of a project; one of a project takes no variable that is refused. */
  readonly owner?: "user" | "project";
  /** Time limits are in milliseconds, as in the file of Gemini; by default, in seconds. */
  readonly hasMilliseconds?: boolean;
  /** Why a server must not be started although its entry is valid. */
  readonly objection?: string | undefined;
}

/** The transports, by their names in the dialects. */
const TRANSPORTS: ReadonlyMap<string, ServerConfig["transport"]> = new Map([
  ["stdio", "stdio"],
  ["local", "stdio"],
  ["http", "http"],
  ["remote", "http"],
  ["streamablehttp", "http"],
  ["sse", "sse"],
]);

/** The known keys, for suggestions on a typing error. */
const KEYS: ReadonlySet<string> = new Set(
  "command args env url headers type transport enabled disabled timeout cwd text".split(" "),
);

/**
 * Reads one server in any of the dialects: Claude, VS Code, Cursor, Windsurf, Gemini, opencode, Codex and Zed differ in
 * the names of a few keys. Unknown keys are ignored. A bad entry throws a `BadEntry`.
 */
export function parseServer({ name, entry, source }: NamedEntry, scope: EntryScope): ServerConfig {
  if (typeof name !== "string" || name.trim() === "")
    throw new BadEntry("MCP server name is required", { fix: 'write "name": { … }' });
  if (!isRecord(entry))
    throw entryError(name, "its entry must be an object", {
      fix: 'write { "command": "npx", "args": ["-y", "package"] }',
    });
  const missing = new Set<string>();
  const commands: SecretCommands = new Map();
  const templates: SessionTemplates = new Map();
  const readScope: ReadScope = { ...scope, commands, templates };
  const fields = createFields(name, entry, missing, readScope);
  const context: EntryContext = { name, entry, missing, scope: readScope, fields };
  const transport = detectTransport(context);
  const connection =
    transport === "stdio"
      ? { transport, ...parseProcess(context) }
      : { transport, ...parseEndpoint(context, transport) };
  const requestParts = parseRequestParts({ name, fields, templates, isComplete: missing.size === 0 }, connection);
  const settings = parseSettings(context);
  const toolObjection = findToolObjection(name, entry);
  const selection = toolObjection === undefined ? parseToolSelection(context) : { disabledTools: [] };
  const obstacle = missing.size > 0 ? `missing ${[...missing].join(", ")}` : (scope.objection ?? toolObjection);
  return {
    name,
    source,
    ...connection,
    ...requestParts,
    ...settings,
    ...selection,
    ...(commands.size > 0 && { commands: { words: Object.fromEntries(commands), ...getCommandFolder(scope) } }),
    ...(obstacle !== undefined && { obstacle }),
    declared: entry,
  };
}

/** A command of the user never starts a program of the project. */
function getCommandFolder({ owner, cwd }: EntryScope): Omit<CommandSecrets, "words"> {
  return owner === "user" ? { cwd: homedir(), isOfUser: true } : { cwd };
}

/** The scope of an entry that is being read, which collects its commands and templates. */
interface ReadScope extends EntryScope {
  readonly commands: SecretCommands;
  readonly templates: SessionTemplates;
}

interface NamedEntry extends Pick<ServerEntry, "name" | "entry"> {
  /** For display: `.mcp.json:3:5` */
  readonly source: string;
}

interface EntryContext {
  readonly name: string;
  readonly entry: Readonly<Record<string, unknown>>;
  readonly fields: Fields;
  readonly scope: ReadScope;
  /** Placeholders without a value: `environment variable TOKEN`. */
  readonly missing: Set<string>;
}

function createFields(
  name: string,
  entry: Readonly<Record<string, unknown>>,
  missing: Set<string>,
  { variables, inputs, commands, templates }: ReadScope,
): Fields {
  const fillVariables = (text: string): string => fillIn(text, variables, missing, inputs);
  return createFieldReader(name, entry, (text, key) => {
    if (key === "description") return text; // models read it, and a value may be a secret
    const fill = (part: string): string => replaceCommands(name, key, part, { fill: fillVariables, commands });
    return replaceTemplates(name, key, text, { fill, templates });
  });
}

/** Returns the declared transport, or derives it from the keys of the entry. */
function detectTransport({ name, fields }: EntryContext): ServerConfig["transport"] {
  const declared = fields.text("transport", "type");
  if (declared === undefined)
    return fields.raw("command") === undefined && readUrl(fields) !== undefined ? "http" : "stdio";
  const transport = TRANSPORTS.get(declared.toLowerCase().replaceAll(/[-_]/g, ""));
  if (transport !== undefined) return transport;
  const key = fields.raw("transport") === undefined ? "type" : "transport";
  throw entryError(name, `transport ${JSON.stringify(declared)} is not known, use stdio, http or sse`, { key });
}

function parseProcess(context: EntryContext) {
  const { name, fields, scope } = context;
  refuseAccount(context);
  const written = fields.raw("command");
  // Zed can have all of it in one object.
  const inner =
    isRecord(written) && "path" in written ? createFields(name, written, context.missing, scope) : undefined;
  const [command = "", ...first] = inner?.texts("path") ?? fields.texts("command");
  if (command.trim() === "") {
    const fix =
      findTypo(context, "command") ?? 'write "command": "npx", "args": ["-y", "package"], or "url": "https://…"';
    throw entryError(name, "command is required for stdio transport", { fix });
  }
  const cwd = resolve(scope.cwd, fields.text("cwd") ?? "");
  return {
    command,
    args: [...first, ...(inner?.texts("args") ?? []), ...fields.texts("args")],
    env: {
      ...readPassedVariables(fields, scope),
      ...fromEnvFile(context),
      ...inner?.textRecord("env"),
      ...fields.textRecord("environment"),
      ...fields.textRecord("env"),
    },
    cwd,
    ...(scope.owner === "user" && { isOfUser: true as const }),
  };
}

/** Codex lists variables that a server gets as they are. */
function readPassedVariables(fields: Fields, { variables }: EntryScope): Readonly<Record<string, string>> {
  const values = fields.texts("env_vars").map((name) => [name, variables(name)] as const);
  return Object.fromEntries(values.filter((pair): pair is [string, string] => pair[1] !== undefined));
}

/** VS Code can name a file of variables. */
function fromEnvFile({ fields, scope, missing }: EntryContext): Readonly<Record<string, string>> {
  const file = fields.text("envFile");
  if (file === undefined) return {};
  const path = resolve(scope.cwd, file);
  if (scope.owner === "user" && isInside(relative(canonicalPath(scope.cwd), canonicalPath(path)))) {
    missing.add(`file ${file} (your own servers do not read files of a project)`);
    return {};
  }
  const variables = readEnvFile(path);
  if (variables === undefined) missing.add(`file ${file}`);
  return scope.owner === "project" ? withoutRefused(variables ?? {}) : (variables ?? {});
}

function parseEndpoint({ name, fields, scope, missing }: EntryContext, transport: "http" | "sse") {
  const url = readUrl(fields) ?? "";
  if (url.trim() === "")
    throw entryError(name, `url is required for ${transport} transport`, { fix: 'write "url": "https://…"' });
  const headers = {
    ...fields.textRecord("http_headers"),
    ...fromVariables(fields, scope, missing),
    ...fields.textRecord("headers"),
  };
  if (missing.size === 0) {
    if (!/^https?:$/.test(getProtocol(url))) {
      const key = URL_KEYS.find((key) => fields.raw(key) !== undefined) ?? "url";
      throw entryError(name, "url must begin with http:// or https://", { key });
    }
    for (const header of Object.entries(headers)) {
      if (isHeader(header)) continue;
      throw entryError(name, `header ${JSON.stringify(header[0])} is not a valid header`, { key: "headers" });
    }
  }
  const oauth = parseOAuth(fields.raw("oauth"), (name, entry) => createFields(name, entry, missing, scope), name);
  return { url, headers, ...(oauth !== undefined && { oauth }), ...parseAccount({ name, fields }, { headers }) };
}

/** Codex names the variables that headers come from. */
function fromVariables(
  fields: Fields,
  { variables }: EntryScope,
  missing: Set<string>,
): Readonly<Record<string, string>> {
  const bearer = fields.text("bearer_token_env_var");
  const sources = [
    ...(bearer === undefined ? [] : [["Authorization", bearer, "Bearer "] as const]),
    ...Object.entries(fields.textRecord("env_http_headers")).map(([header, name]) => [header, name, ""] as const),
  ];
  return Object.fromEntries(
    sources.map(([header, name, scheme]) => {
      const value = variables(name);
      if (value === undefined) missing.add(`environment variable ${name}`);
      return [header, `${scheme}${value ?? ""}`];
    }),
  );
}

function parseSettings({ name, fields, scope }: EntryContext) {
  const description = fields.text("description");
  const skillName = fields.text("skillName");
  const timeoutMs = parseTimeout(fields, scope);
  const text = parseTextSetting(name, fields.raw("text"));
  const protocol = parseProtocol(name, fields.raw("protocol"));
  const toolOverrides = parseToolOverrides(name, fields.raw("toolOverrides"));
  if (skillName !== undefined && !isMemberName(skillName)) {
    throw entryError(name, `skillName ${JSON.stringify(skillName)} cannot be the name of a skill`, {
      key: "skillName",
    });
  }
  return {
    enabled: fields.flag("enabled") ?? fields.flag("disabled") !== true,
    ...(description !== undefined && { description }),
    ...(skillName !== undefined && { skillName }),
    ...(timeoutMs !== undefined && { timeoutMs: Math.ceil(timeoutMs) }),
    ...(text !== undefined && { text }),
    ...(protocol !== undefined && { protocol }),
    ...(toolOverrides !== undefined && { toolOverrides }),
  };
}

function parseProtocol(server: string, written: unknown): ProtocolChoice | undefined {
  if (written === undefined || written === "auto" || written === "legacy" || written === "modern") return written;
  throw entryError(server, `protocol must be auto, legacy or modern: ${JSON.stringify(written)}`, {
    key: "protocol",
    fix: 'write "protocol": "legacy" for versions before 2026-07-28, or "modern" for that version only',
  });
}

function parseToolSelection({ name, entry, missing, scope }: EntryContext): ToolLists {
  const lists = getToolLists(entry);
  const fields = createFields(name, { ...lists }, missing, scope);
  return {
    ...(lists.enabledTools !== undefined && { enabledTools: fields.texts("enabledTools") }),
    disabledTools: fields.texts("disabledTools"),
  };
}

/** One form for all tools of a server, or forms by the name of the tool, where `*` is every other tool. */
function parseTextSetting(server: string, written: unknown): TextSetting | undefined {
  if (written === undefined) return undefined;
  const forms = isRecord(written) ? written : { "*": written };
  const tools = Object.entries(forms).map(([tool, form]): [string, TextForm] => {
    if (form === "json" || form === "text") return [tool, form];
    const setting = isRecord(written) ? `text of ${JSON.stringify(tool)}` : "text";
    throw entryError(server, `${setting} must be json or text: ${JSON.stringify(form)}`, {
      key: "text",
      fix: 'write "text": "text" to keep texts that hold JSON, or "text": { "read_file": "text" } for one tool',
    });
  });
  const byTool = tools.filter(([tool]) => tool !== "*");
  const [, every = "json"] = tools.find(([tool]) => tool === "*") ?? [];
  return { default: every, tools: Object.fromEntries(byTool) };
}

/** In seconds; Gemini, and opencode, which calls its ways `local` and `remote`, mean milliseconds. */
function parseTimeout(fields: Fields, { hasMilliseconds = false }: EntryScope): number | undefined {
  const isOpenCode = fields.raw("type") === "local" || fields.raw("type") === "remote";
  if (isOpenCode || hasMilliseconds) return fields.positive("timeout");
  const seconds = fields.positive("timeout") ?? fields.positive("tool_timeout_sec");
  return seconds === undefined ? undefined : seconds * 1000;
}

/** `"comand" is not known here, write "command"` */
function findTypo({ entry }: EntryContext, key: string): string | undefined {
  const unknownKeys = Object.keys(entry).filter((written) => !KEYS.has(written));
  const [near] = suggestNames(key, unknownKeys, 1);
  return near === undefined ? undefined : `"${near}" is not known here, write "${key}"`;
}

function readUrl(fields: Fields): string | undefined {
  return fields.text(...URL_KEYS);
}

function getProtocol(url: string): string {
  return URL.canParse(url) ? new URL(url).protocol : "";
}

function isHeader(header: [name: string, value: string]): boolean {
  try {
    return new Headers([header]).has(header[0]);
  } catch {
    return false; // `Headers` rejects an invalid header
  }
}
