import { isRecord, toRecord } from "../../model/json.ts";
import { getCommandWords, isWord } from "./entry-keys.ts";
import { getToolLists } from "./tool-selection.ts";

/**
 * A server of any client as `.mcp.json` has it: `command`, `args`, `env`, or `type`, `url`, `headers`, and the few
 * settings that Skillgate knows. `undefined` if it says neither how to start nor where to reach it.
 */
export function normalizeEntry(entry: unknown, clientId = ""): Readonly<Record<string, unknown>> | undefined {
  if (!isRecord(entry)) return undefined;
  const normalized = normalizePlaceholders(entry, clientId) as Record<string, unknown>;
  const connection = normalizeProcess(normalized) ?? normalizeEndpoint(normalized, clientId);
  return connection && withoutUndefined({ ...connection, ...normalizeSettings(normalized, clientId) });
}

/** opencode and Kilo write `{env:NAME}`, Gemini and Qwen `$NAME`. */
function normalizePlaceholders(value: unknown, clientId: string): unknown {
  if (Array.isArray(value)) return value.map((item) => normalizePlaceholders(item, clientId));
  if (isRecord(value))
    return Object.fromEntries(Object.entries(value).map(([key, item]) => [key, normalizePlaceholders(item, clientId)]));
  if (typeof value !== "string") return value;
  const plain = value.replaceAll(/(?<!\$)\{env:(\w{1,200})\}/g, "${$1}");
  return LIKE_GEMINI.has(clientId) ? plain.replaceAll(/\$([A-Za-z_]\w{0,200})/g, "${$1}") : plain;
}

/** Qwen Code is made from Gemini CLI. */
const LIKE_GEMINI: ReadonlySet<string> = new Set(["gemini", "qwen"]);

/** Kilo Code is made from opencode. */
const LIKE_OPENCODE: ReadonlySet<string> = new Set(["opencode", "kilo"]);

function normalizeProcess(entry: Readonly<Record<string, unknown>>): Record<string, unknown> | undefined {
  const { command, env, environment, env_vars: passedOn, cwd, envFile } = entry;
  const [first, ...rest] = getCommandWords(entry);
  if (first === undefined || command === undefined) return undefined;
  const variables = {
    ...Object.fromEntries(
      [passedOn ?? []]
        .flat()
        .filter(isWord)
        .map((name) => [name, `\${${name}}`]),
    ),
    ...toRecord(toRecord(command)["env"]),
    ...toRecord(environment),
    ...toRecord(env),
  };
  return { command: first, args: rest, env: undefinedIfEmpty(variables), cwd, envFile };
}

function normalizeEndpoint(
  entry: Readonly<Record<string, unknown>>,
  clientId: string,
): Record<string, unknown> | undefined {
  const { url, serverUrl, httpUrl, type, transport, headers } = entry;
  const address = httpUrl ?? serverUrl ?? url;
  if (typeof address !== "string") return undefined;
  // Gemini uses `url` for the address of the older transport.
  const isEvents =
    /^sse$/i.test(String(transport ?? type)) ||
    (LIKE_GEMINI.has(clientId) && httpUrl === undefined && type === undefined);
  const { http_headers: more, env_http_headers: variableHeaders, bearer_token_env_var: bearer } = entry;
  const all = {
    ...toRecord(more),
    ...Object.fromEntries(
      Object.entries(toRecord(variableHeaders)).map(([header, name]) => [header, `\${${String(name)}}`]),
    ),
    ...(typeof bearer === "string" && { Authorization: `Bearer \${${bearer}}` }),
    ...toRecord(headers),
  };
  return { type: isEvents ? "sse" : "http", url: address, headers: undefinedIfEmpty(all) };
}

function normalizeSettings(entry: Readonly<Record<string, unknown>>, clientId: string): Record<string, unknown> {
  const {
    enabled,
    disabled,
    timeout,
    tool_timeout_sec: seconds,
    description,
    skillName,
    text,
    protocol,
    toolOverrides,
    passHeaders,
    account,
  } = entry;
  const inMilliseconds = LIKE_OPENCODE.has(clientId) || LIKE_GEMINI.has(clientId);
  const { enabledTools, disabledTools } = getToolLists(entry);
  return {
    enabled: enabled === false || (enabled === undefined && disabled === true) ? false : undefined,
    timeout: typeof timeout === "number" ? timeout / (inMilliseconds ? 1000 : 1) : seconds,
    description,
    skillName,
    text,
    protocol,
    toolOverrides,
    passHeaders,
    account,
    enabledTools,
    disabledTools: disabledTools.length > 0 ? disabledTools : undefined,
  };
}

function undefinedIfEmpty(record: Record<string, unknown>): Record<string, unknown> | undefined {
  return Object.keys(record).length > 0 ? record : undefined;
}

function withoutUndefined(record: Record<string, unknown>): Record<string, unknown> {
  return Object.fromEntries(Object.entries(record).filter(([, value]) => value != null));
}
