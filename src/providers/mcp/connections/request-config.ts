import { createHmac, randomBytes } from "node:crypto";

import { createError, sentence, SkillgateError } from "../../../errors.ts";
import { isSessionValue, type RequestValues, SESSION_VALUE_RULE } from "../../../model/requests/request-values.ts";
import { KnownSecrets } from "../../../shared/secrets.ts";
import { getAccountName, type ServerConfig, type SessionTemplate } from "../server-config.ts";

/** The configuration of a server for the request of one caller. */
export interface RequestConfig {
  readonly config: ServerConfig;
  /** Identifies the values without containing them; different in each process. */
  readonly key: string;
  /** Everything that came from the request: for errors and logs. */
  readonly values: readonly string[];
  /** Masks the headers that are forwarded, in results. */
  readonly headerSecrets: KnownSecrets;
}

/** Maximum number of characters of a header that is forwarded. */
const MAX_HEADER_CHARACTERS = 8_192;

/** Makes keys useless outside of this process: no other one can find values by trying. */
const PROCESS_KEY = randomBytes(32);

/**
 * Fills in the parts of a configuration that come from the request of a caller. `undefined` for a configuration without such
 * parts. Throws `SESSION_VALUE_MISSING`, `SESSION_VALUE_INVALID`.
 */
export function fillInRequest(config: ServerConfig, values: RequestValues | undefined): RequestConfig | undefined {
  const { name: server, fromRequest } = config;
  if (fromRequest === undefined) return undefined;
  if (values === undefined) throw missingError(server, formatRequestNeeds(config), "this call belongs to no request");
  const { templates, passHeaders } = fromRequest;
  const session = mapValues(templates, (template) => readSessionValue(server, template, values));
  const headers = Object.fromEntries(passHeaders.map((name) => [name, readHeader(server, name, values)]));
  const content = JSON.stringify([server, session, headers]);
  return {
    config: fillIn(config, session, headers),
    key: createHmac("sha256", PROCESS_KEY).update(content).digest("base64url"),
    values: [...Object.values(session), ...Object.values(headers).flatMap(splitHeader)],
    headerSecrets: new KnownSecrets(Object.values(headers).flatMap(splitHeader)),
  };
}

/**
 * Returns the configuration with the defaults of its templates and without the headers of callers, which lists the tools before
 * there is a caller; `undefined` if a template has no default, or a server has an account.
 */
export function fillInDefaults(config: ServerConfig): ServerConfig | undefined {
  const { fromRequest } = config;
  if (getAccountName(config) !== undefined) return undefined;
  if (fromRequest === undefined) return config;
  const templates = Object.entries(fromRequest.templates);
  if (templates.some(([, { fallback }]) => fallback === undefined)) return undefined;
  return fillIn(config, Object.fromEntries(templates.map(([text, { fallback = "" }]) => [text, fallback])), {});
}

/** `a request with the session value project and the header x-tenant`, `a caller that has connected the account notes` */
export function formatNeeds(config: ServerConfig): string {
  const account = getAccountName(config);
  const needs = formatRequestNeeds(config);
  const request = needs === "" ? [] : [`a request with ${needs}`];
  const caller = account === undefined ? [] : [`a caller that has connected the account ${account}, to list its tools`];
  return [...request, ...caller].join(", and for ");
}

function formatRequestNeeds({ fromRequest }: Pick<ServerConfig, "fromRequest">): string {
  const { templates = {}, passHeaders = [] } = fromRequest ?? {};
  const names = [...new Set(Object.values(templates).map(({ name }) => name))];
  return [...names.map(formatSessionName), ...passHeaders.map(formatHeaderName)].join(" and ");
}

function formatSessionName(name: string): string {
  return `the session value ${name} (the header x-skillgate-session-${name})`;
}

function formatHeaderName(name: string): string {
  return `the header ${name}`;
}

function readSessionValue(server: string, { name, fallback }: SessionTemplate, values: RequestValues): string {
  const value = values.getSessionValue(name) ?? fallback;
  if (value === undefined) throw missingError(server, formatSessionName(name), "the request does not have it");
  if (isSessionValue(value)) return value;
  const says = `${formatSessionName(name)} of "${server}" is not ${SESSION_VALUE_RULE}`;
  throw createError("SESSION_VALUE_INVALID", says, { server });
}

function readHeader(server: string, name: string, values: RequestValues): string {
  const value = values.getHeader(name);
  if (value === undefined || value === "")
    throw missingError(server, formatHeaderName(name), "the request does not have it");
  if (value.length <= MAX_HEADER_CHARACTERS && !/[^\t\u0020-\u007e\u0080-\u00ff]/.test(value)) return value;
  const says = `${formatHeaderName(name)} for "${server}" has control characters, or more than ${MAX_HEADER_CHARACTERS} characters`;
  throw createError("SESSION_VALUE_INVALID", says, { server });
}

function missingError(server: string, needs: string, why: string): SkillgateError {
  const message = sentence("SESSION_VALUE_MISSING", `"${server}" needs ${needs}, and ${why}`);
  return new SkillgateError("SESSION_VALUE_MISSING", message, { server });
}

/** Returns a header and its parts: of `Bearer abcd` and `id=abcd; lang=en`, `abcd` is the secret. */
function splitHeader(value: string): readonly string[] {
  const parts = value.split(/[\s;,]+/).flatMap((part) => [part, part.replace(/^[^=]*=/, "")]);
  return [value, ...parts.filter((part) => part.length >= MIN_PART_CHARACTERS)];
}

const MIN_PART_CHARACTERS = 4;

function fillIn(
  config: ServerConfig,
  session: Readonly<Record<string, string>>,
  headers: Readonly<Record<string, string>>,
): ServerConfig {
  const fill = (text: string): string =>
    Object.entries(session).reduce((filled, [placeholder, value]) => filled.replaceAll(placeholder, () => value), text);
  if (config.transport === "stdio") {
    const { args, env, cwd } = config;
    return { ...config, args: args.map(fill), env: mapValues(env, fill), cwd: fill(cwd) };
  }
  const url = fillUrl(config.url, session);
  return { ...config, url, headers: { ...mapValues(config.headers, fill), ...headers } };
}

/** Fills in a URL. Its host is compared afterwards, although no template can be a part of it. */
function fillUrl(address: string, session: Readonly<Record<string, string>>): string {
  const filled = Object.entries(session).reduce(
    (text, [placeholder, value]) => text.replaceAll(placeholder, () => encodeURIComponent(value)),
    address,
  );
  const [before, after] = [new URL(address), new URL(filled)];
  if (before.origin === after.origin && countSlashes(before) === countSlashes(after)) return filled;
  throw new TypeError("A session value has changed the address of a server");
}

function countSlashes({ pathname }: URL): number {
  return pathname.split("/").length;
}

function mapValues<Value, Result>(
  record: Readonly<Record<string, Value>>,
  map: (value: Value) => Result,
): Readonly<Record<string, Result>> {
  return Object.fromEntries(Object.entries(record).map(([key, value]) => [key, map(value)]));
}
