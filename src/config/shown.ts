import { isRecord } from "../model/json.ts";
import type { ServerConfig } from "../providers/mcp/index.ts";

/** What stands in place of a secret. */
export const MASK = "***";

/** A server in a few words: its command line or its address, without secrets. */
export function shownServer(entry: unknown): string {
  const shown = maskedEntry(entry);
  if (!isRecord(shown)) return "";
  const { command, args } = shown;
  const inner = isRecord(command) ? [command["path"], command["args"]] : [command];
  const words = [...inner, args]
    .flat()
    .filter((word) => word !== undefined && !isRecord(word))
    .map(String);
  if (command !== undefined && words.length > 0) return words.map(quoted).join(" ");
  return [shown["url"], shown["serverUrl"], shown["httpUrl"]].find((url) => typeof url === "string") ?? "";
}

/** As one would type it. */
export function quoted(word: string): string {
  return /^[\w@%+=:,./${}*-]+$/.test(word) ? word : `'${word.replaceAll("'", String.raw`'\''`)}'`;
}

/** An entry as it may be shown: placeholders stay, what may be a secret does not. */
export function maskedEntry(entry: unknown): unknown {
  if (!isRecord(entry)) return typeof entry === "string" ? MASK : entry;
  return Object.fromEntries(Object.entries(entry).map(([key, value]) => [key, maskedValue(key, value)]));
}

function maskedValue(key: string, value: unknown): unknown {
  if (VALUES_ARE_SECRET.has(key)) return maskedLeaves(value);
  if (key === "args" || key === "command") return Array.isArray(value) ? maskedWords(value) : maskedPart(value);
  if (typeof value === "string")
    return SECRET_NAME.test(key) && !NAMES_ARE_SHOWN.has(key) ? masked(value) : maskedWord(value);
  if (isRecord(value)) return maskedEntry(value);
  return Array.isArray(value) ? value.map((item) => maskedValue("", item)) : value;
}

function maskedPart(value: unknown): unknown {
  return isRecord(value) ? maskedEntry(value) : typeof value === "string" ? maskedWord(value) : value;
}

/** Whatever they are called, a stranger need not know them. */
const VALUES_ARE_SECRET: ReadonlySet<string> = new Set([
  "env",
  "environment",
  "headers",
  "http_headers",
  "requestInit",
]);

/** They name a variable; they do not hold its value. */
const NAMES_ARE_SHOWN: ReadonlySet<string> = new Set(["bearer_token_env_var", "env_vars", "env_http_headers"]);

const SECRET_NAME =
  /pass(?:word|wd|phrase)?|pwd|secret|token|api[_-]?key|access[_-]?key|private[_-]?key|credential|auth|bearer|cookie|session|signature|(?:^|[_-])key$/i;

/** True for names of variables, options and parameters that usually hold secrets. */
export function isSecretName(name: string): boolean {
  return SECRET_NAME.test(name);
}

function maskedLeaves(value: unknown): unknown {
  if (isRecord(value)) return Object.fromEntries(Object.entries(value).map(([key, item]) => [key, maskedLeaves(item)]));
  if (Array.isArray(value)) return value.map(maskedLeaves);
  return typeof value === "string" ? masked(value) : value === null ? null : MASK;
}

/** Unless it only says where the secret comes from: `Bearer ${TOKEN}`. */
export function masked(value: string): string {
  const rest = value.replaceAll(PLACEHOLDER, "").replace(/^\s*(?:bearer|basic|token)\b/i, "");
  return rest.trim() === "" ? value : MASK;
}

/** Without a default: that is a value like any other. */
const PLACEHOLDER = /\$\{(?:(?:env|input):)?[\w.-]{1,200}\}|\{env:\w{1,200}\}/g;

/** The words of a command line; what follows a word like `--api-key` is a secret, too. */
function maskedWords(words: readonly unknown[]): readonly unknown[] {
  return words.map((word, index) => {
    const before = words[index - 1];
    const isValue = typeof before === "string" && /^--?[A-Za-z]/.test(before) && !before.includes("=");
    if (typeof word !== "string") return word;
    return isValue && SECRET_NAME.test(before) && !word.startsWith("-") ? masked(word) : maskedWord(word);
  });
}

/** `--token=…`, `API_KEY=…`, an address with a password or a key in it, or what looks like a key. */
function maskedWord(word: string): string {
  const [, name, value] = /^(-{0,2}[\w.-]{1,100}(?:=|:\s*))(.+)$/s.exec(word) ?? [];
  if (name !== undefined && value !== undefined && SECRET_NAME.test(name)) return name + masked(value);
  const address = word.replace(PASSWORD_IN_ADDRESS, `$1${MASK}@`).replace(PARAMETER, maskedParameter);
  return address.replaceAll(KEY_FORMS, MASK);
}

const PASSWORD_IN_ADDRESS = /^([a-z][a-z0-9+.-]{0,30}:\/\/(?:[^/?#@:]*:)?)[^/?#@]+@/i;

const PARAMETER = /([?&][^=&#]{1,100}=)([^&#]+)/g;

function maskedParameter(_found: string, name: string, value: string): string {
  return name + (SECRET_NAME.test(name.slice(1, -1)) ? masked(value) : value);
}

/** The forms in which well-known services give out keys, and any long run of letters and digits. */
const KEY_FORMS =
  /(?<![A-Za-z0-9])(?:sk[-_][\w-]{8,}|gh[pousr]_\w{16,}|github_pat_\w{20,}|glpat-[\w-]{10,}|xox[a-z]-[\w-]{10,}|(?:AKIA|ASIA)[0-9A-Z]{16}|AIza[\w-]{30,}|npm_\w{20,}|hf_\w{20,}|eyJ[\w-]{8,}\.[\w.-]{8,}|(?=[A-Za-z]{0,200}\d)(?=\d{0,200}[A-Za-z])[A-Za-z0-9]{28,})/g;

/** Shorter ones would take honest words apart. */
const SHORTEST_SECRET = 6;

/** Removes from any text what servers were told in confidence. */
export function hideSecrets(servers: readonly ServerConfig[]): (text: string) => string {
  const secrets = [...new Set(servers.flatMap(secretsOf))].toSorted((a, b) => b.length - a.length);
  return (text) => secrets.reduce((text, secret) => text.replaceAll(secret, MASK), text);
}

function secretsOf(server: ServerConfig): readonly string[] {
  const values = server.transport === "stdio" ? Object.values(server.env) : Object.values(server.headers);
  const words = server.transport === "stdio" ? server.args : [server.url];
  const maskedOnes = server.transport === "stdio" ? maskedWords(server.args) : words.map(maskedWord);
  const { oauth } = server as { readonly oauth?: unknown };
  const login = isRecord(oauth)
    ? [oauth["clientSecret"], oauth["privateKey"]].filter((value) => typeof value === "string")
    : [];
  const hidden = words.flatMap((word, index) => hiddenIn(word, String(maskedOnes[index])));
  return [
    ...values.flatMap((value) => [value, value.replace(/^(?:bearer|basic|token)\s+/i, "")]),
    ...hidden,
    ...login,
  ].filter((value) => value.length >= SHORTEST_SECRET && !HARMLESS.test(value));
}

/** What a word had where the masked one has marks. */
function hiddenIn(word: string, shown: string): readonly string[] {
  if (word === shown) return [];
  let rest = word;
  const found: string[] = [];
  const kept = shown.split(MASK);
  for (const [index, part] of kept.entries()) {
    const at = index === kept.length - 1 && part === "" ? rest.length : rest.indexOf(part);
    if (at > 0) found.push(rest.slice(0, at));
    rest = rest.slice(at + part.length);
  }
  return found;
}

/** Values that say nothing, and words of which many texts consist. */
const HARMLESS = /^(?:true|false|\d{1,8}|production|development|utf-?8|https?:\/\/localhost[^@?]*)$/i;
