import { isRecord } from "../model/json.ts";
import type { OAuthConfig, ServerConfig } from "../providers/mcp/index.ts";
import { isSecretName } from "../shared/masks/secret-name.ts";
import { MASK, maskedLine, maskWord, maskWords } from "./shown.ts";
import { fillIn, type Variables } from "./variables.ts";

/** The values in the configuration of a server that no text may show. */
export function findServerSecrets(server: ServerConfig): readonly string[] {
  if (server.transport === "stdio") {
    const { env, command, args } = server;
    return [
      ...Object.entries(env).flatMap(secretsInVariable),
      ...hiddenInAll([command, ...args], [maskedLine(command), ...maskWords(args).map(String)]),
    ];
  }
  const { url, headers, oauth = false } = server;
  const login = oauth === false ? [] : findLoginSecrets(oauth);
  return [...findHeaderSecrets(headers), ...hiddenInAll([url], [maskWord(url)]), ...login];
}

/** The secret values in headers, each whole and without the word before it: `Bearer`. */
export function findHeaderSecrets(headers: Readonly<Record<string, string>>): readonly string[] {
  return Object.entries(headers).flatMap(secretsInHeader);
}

function findLoginSecrets({ clientSecret, privateKey, assertion, identityProvider }: OAuthConfig): readonly string[] {
  const { clientSecret: secret, privateKey: key, idToken } = identityProvider ?? {};
  return [clientSecret, privateKey, assertion, secret, key, idToken].filter((value) => value !== undefined);
}

/** The variables that hold the key of a provider of models, if the settings name no other one. */
export const MODEL_KEY_VARIABLES = {
  openai: "OPENAI_API_KEY",
  anthropic: "ANTHROPIC_API_KEY",
  ollama: "OLLAMA_API_KEY",
} as const;

/** The keys of models, whether or not the agent runs; `agent` is the section of settings.yaml. */
export function findModelKeys(agent: unknown, variables: Variables): readonly string[] {
  const own = isRecord(agent) && typeof agent["keyVariable"] === "string" ? [agent["keyVariable"]] : [];
  return [...Object.values(MODEL_KEY_VARIABLES), ...own].flatMap((name) => variables(name)?.trim() ?? []);
}

/** The values in the sections of settings.yaml whose names say that they are secret. */
export function findSettingsSecrets(sections: unknown, variables: Variables): readonly string[] {
  if (Array.isArray(sections)) return sections.flatMap((item) => findSettingsSecrets(item, variables));
  if (!isRecord(sections)) return [];
  return Object.entries(sections).flatMap(([name, value]) => {
    if (typeof value !== "string") return findSettingsSecrets(value, variables);
    const missing = new Set<string>();
    const text = fillIn(value, variables, missing);
    return isSecretName(name) && missing.size === 0 ? secretsInVariable([name, text]) : secretsInUrl(text);
  });
}

/** A variable is secret unless its value says by its form that it is not. */
function secretsInVariable([name, value]: readonly [string, string]): readonly string[] {
  if (COMMON.test(value)) return [];
  const parts = [...secretsInUrl(value), ...(/[\s/:,;"'{]/.test(value) ? (value.match(LONG_PART) ?? []) : [])];
  if (URL_FORM.test(value) || PATH_FORM.test(value)) return parts;
  const mayBePlain = !looksSecret(name);
  return mayBePlain && PLAIN_FORMS.some((form) => form.test(value)) ? parts : [value, ...parts];
}

/** True for the name of a setting or a variable that suggests a secret: `apiKey`. */
export function looksSecret(name: string): boolean {
  return isSecretName(name) && !NAME_OF_PLAIN.test(name);
}

/** `AUTH_TYPE`, `TOKEN_ISSUER`, `AUTHOR` */
const NAME_OF_PLAIN = /(?:type|method|mode|scheme|scopes?|issuer|audience|name|user|id|author|region|version|limit)$/i;

/** Values that many texts hold. */
const COMMON =
  /^(?:\d{1,9}|undefined|disabled|required|optional|production|development|localhost|password|passw0rd|changeme|utf-?8|en[_-]us)$/i;

const URL_FORM = /^[a-z][a-z0-9+.-]{0,30}:\/\//i;

const PATH_FORM = /^(?:\/|~\/|\.{1,2}\/|[A-Za-z]:[\\/])[\w.@ -]+(?:[\\/][\w.@ -]*)+$/;

/** Values that are not secret if the name of their variable does not suggest a secret. */
const PLAIN_FORMS = [
  /^(?=.{1,24}$)[A-Za-z]+(?:[ _.-][A-Za-z]+)?$/, // one word or two
  /^[a-z]{2,}(?:-[a-z]+)+-?\d{1,2}$/, // eu-central-1
  /^v?\d+(?:[.:-]\d+)*$/, // a version, a date, an address
  /^[a-z0-9-]+(?:\.[a-z0-9-]+)*\.[a-z]{2,}(?::\d+)?$/i, // a host
];

/** Part of a value that is made of several, such as a header in JSON. */
const LONG_PART = /(?=[\w+=~-]{0,200}\d)(?=[\w+=~-]{0,200}[A-Za-z])[\w+=~-]{16,}/g;

function secretsInHeader([name, value]: readonly [string, string]): readonly string[] {
  if (HARMLESS_HEADERS.has(name.toLowerCase()) || COMMON.test(value)) return [];
  const [, scheme = "", credential = value] = /^(bearer|basic|token)\s+(.*)$/i.exec(value) ?? [];
  const [, password = ""] = /^[^:]*:(.*)$/s.exec(Buffer.from(credential, "base64").toString()) ?? [];
  const cookies = name.toLowerCase() === "cookie" ? value.split(/;\s*/).map((each) => each.replace(/^[^=]*=/, "")) : [];
  return [value, credential, ...(scheme.toLowerCase() === "basic" ? [password] : []), ...cookies];
}

const HARMLESS_HEADERS: ReadonlySet<string> = new Set(
  "accept accept-encoding accept-language content-type host mcp-protocol-version origin referer user-agent".split(" "),
);

function secretsInUrl(value: string): readonly string[] {
  return URL_FORM.test(value) ? hiddenInAll([value], [maskWord(value)]) : [];
}

function hiddenInAll(words: readonly string[], masked: readonly string[]): readonly string[] {
  return words.flatMap((word, index) => hiddenIn(word, masked[index] ?? word)).filter((value) => !COMMON.test(value));
}

/** Returns the parts of a word that the masked word hides. */
function hiddenIn(word: string, masked: string): readonly string[] {
  if (word === masked) return [];
  let rest = word;
  const found: string[] = [];
  const pieces = masked.split(MASK);
  for (const [index, part] of pieces.entries()) {
    const at = index === pieces.length - 1 && part === "" ? rest.length : rest.indexOf(part);
    if (at > 0) found.push(rest.slice(0, at));
    rest = rest.slice(at + part.length);
  }
  return found.flatMap((value) => (value.includes("%") ? [value, decoded(value)] : [value]));
}

function decoded(value: string): string {
  try {
    return decodeURIComponent(value);
  } catch {
    return value; // no escape sequence after all
  }
}
