import { isRecord } from "../model/json.ts";
import { getAddress, getCommandWords } from "./servers/entry-keys.ts";
import { isSecretName } from "../shared/masks/secret-name.ts";
import { maskTokens } from "../shared/masks/token-formats.ts";

/** Replaces a secret in output. */
export const MASK = "***";

/** A server in a few words: its command line or its address, without secrets. */
export function shownServer(entry: unknown): string {
  const masked = maskEntry(entry);
  if (!isRecord(masked)) return "";
  const words = getCommandWords(masked);
  if (masked["command"] !== undefined && words.length > 0) return words.map(quoted).join(" ");
  return getAddress(masked) ?? "";
}

/** Quotes a word for a shell if necessary. */
export function quoted(word: string): string {
  return /^[\w@%+=:,./${}*-]+$/.test(word) ? word : `'${word.replaceAll("'", String.raw`'\''`)}'`;
}

/** An entry as it may be shown: placeholders stay, what may be a secret does not. */
export function maskEntry(entry: unknown): unknown {
  if (!isRecord(entry)) return typeof entry === "string" ? MASK : entry;
  return Object.fromEntries(Object.entries(entry).map(([key, value]) => [key, maskValue(key, value)]));
}

function maskValue(key: string, value: unknown): unknown {
  if (VALUES_ARE_SECRET.has(key)) return maskLeaves(value);
  if (key === "args" || key === "command") return Array.isArray(value) ? maskWords(value) : maskPart(value);
  if (typeof value === "string")
    return isSecretName(key) && !NAMES_ARE_SHOWN.has(key) ? maskText(value) : maskWord(value);
  if (isRecord(value)) return maskEntry(value);
  return Array.isArray(value) ? value.map((item) => maskValue("", item)) : value;
}

function maskPart(value: unknown): unknown {
  return isRecord(value) ? maskEntry(value) : typeof value === "string" ? maskedLine(value) : value;
}

/** Keys whose values are always masked, whatever the names inside. */
const VALUES_ARE_SECRET: ReadonlySet<string> = new Set([
  "env",
  "environment",
  "headers",
  "http_headers",
  "requestInit",
]);

/** They name a variable or an address; they do not hold a secret. */
const NAMES_ARE_SHOWN: ReadonlySet<string> = new Set([
  "bearer_token_env_var",
  "env_vars",
  "env_http_headers",
  "tokenEndpoint",
]);

function maskLeaves(value: unknown): unknown {
  if (isRecord(value)) return Object.fromEntries(Object.entries(value).map(([key, item]) => [key, maskLeaves(item)]));
  if (Array.isArray(value)) return value.map(maskLeaves);
  return typeof value === "string" ? maskText(value) : value === null ? null : MASK;
}

/** Unless it only says where the secret comes from: `Bearer ${TOKEN}`. */
export function maskText(value: string): string {
  const rest = value.replaceAll(PLACEHOLDER, "").replace(/^\s*(?:bearer|basic|token)\b/i, "");
  return rest.trim() === "" ? value : MASK;
}

/** Without a default: that is a value like any other. */
const PLACEHOLDER = /\$\{(?:(?:env|input):)?[\w.-]{1,200}\}|\$\{cmd:[^{}]{1,1000}\}|\{env:\w{1,200}\}/g;

/** The words of a command line; what follows a word like `--api-key` is a secret, too. */
export function maskWords(words: readonly unknown[]): readonly unknown[] {
  return words.map((word, index) => {
    const before = words[index - 1];
    const isValue = typeof before === "string" && /^--?[A-Za-z]/.test(before) && !before.includes("=");
    if (typeof word !== "string") return word;
    return isValue && isSecretName(before) && !word.startsWith("-") ? maskText(word) : maskedLine(word);
  });
}

/** A word of a command line, which may be a command line itself: `sh -c "fetch --token …"`. */
export function maskedLine(line: string): string {
  const parts = maskWord(line).split(/(\s+)/);
  if (parts.length === 1) return parts.join("");
  const words = maskWords(parts.filter((_, index) => index % 2 === 0));
  return parts.map((part, index) => (index % 2 === 0 ? String(words[index / 2]) : part)).join("");
}

/** `--token=…`, `API_KEY=…`, an address with a password or a key in it, or what looks like a key. */
export function maskWord(word: string): string {
  const [, name, value] = /^(-{0,2}[\w.-]{1,100}(?:=|:\s*))(.+)$/s.exec(word) ?? [];
  if (name !== undefined && value !== undefined && isSecretName(name)) return name + maskText(value);
  const address = word.replace(PASSWORD_IN_ADDRESS, `$1${MASK}@`).replace(PARAMETER, maskParameter);
  return maskTokens(address, () => MASK, "display");
}

const PASSWORD_IN_ADDRESS = /^([a-z][a-z0-9+.-]{0,30}:\/\/(?:[^/?#@:]*:)?)[^/?#@]+@/i;

const PARAMETER = /([?&][^=&#]{1,100}=)([^&#]+)/g;

function maskParameter(_found: string, name: string, value: string): string {
  return name + (isSecretName(name.slice(1, -1)) ? maskText(value) : value);
}
