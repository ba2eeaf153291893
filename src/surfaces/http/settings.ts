import { sentence, SkillgateError } from "../../errors.ts";
import { EXPOSES, TOOL_NAMES } from "../../model/tools/exposure.ts";
import { isRecord, type JsonSchema } from "../../model/json.ts";
import { describeUnknownName } from "../../shared/suggest.ts";
import type { Exposure } from "../mcp/index.ts";
import { ISSUER_SCHEMA, type IssuerSettings, parseIssuer } from "./oauth/issuer-settings.ts";

/** The section `server` of settings.yaml. */
export interface HttpServerSettings extends Exposure {
  readonly host: string;
  /** 0 picks a free port. */
  readonly port: number;
  /** `false` accepts requests without a token. */
  readonly auth: boolean;
  /** Offers the web console at `/`. */
  readonly console: boolean;
  /** Takes commands of the same user at a socket. */
  readonly socket: boolean;
  /** The issuer whose access tokens are accepted, too; from `auth: { issuer, audience }`. */
  readonly oauth?: IssuerSettings;
  /** Host names that clients may use in addition to the loopback names. */
  readonly allowedHosts: readonly string[];
  /** Origins that browsers may call from in addition to the loopback ones: `https://example.com`. */
  readonly allowedOrigins: readonly string[];
  readonly bodyBytes: number;
  readonly headerBytes: number;
  /** Time limit for a whole request to arrive. */
  readonly requestSeconds: number;
  /** Maximum number of open MCP sessions. */
  readonly sessions: number;
  readonly sessionIdleSeconds: number;
  /** How `skillgate serve` writes its log to stderr. */
  readonly log: "text" | "json";
  /** Time that requests in progress have to finish when the server shuts down. */
  readonly drainSeconds: number;
}

export const SERVER_DEFAULTS: HttpServerSettings = Object.freeze({
  host: "127.0.0.1",
  port: 3333,
  auth: true,
  console: true,
  socket: true,
  expose: "auto",
  names: "qualified",
  budgetTokens: 3_000,
  allowedHosts: Object.freeze([]),
  allowedOrigins: Object.freeze([]),
  bodyBytes: 4 << 20,
  headerBytes: 16 << 10,
  requestSeconds: 30,
  sessions: 256,
  sessionIdleSeconds: 1_800,
  log: "text",
  drainSeconds: 10,
});

/** Parses the section `server` and fills in defaults; throws `CONFIG_INVALID` if a name or a value is invalid. */
export function parseServerSettings(section: unknown): HttpServerSettings {
  if (section == null) return SERVER_DEFAULTS;
  if (!isRecord(section)) throw wrong("server must be a section");
  for (const [name, value] of Object.entries(section)) {
    const field = Object.hasOwn(FIELDS, name) ? FIELDS[name as keyof typeof FIELDS] : undefined;
    if (field === undefined)
      throw wrong(
        `server has the unknown setting ${describeUnknownName("setting", name, Object.keys(FIELDS), { limit: 1 }).detail}`,
      );
    if (!field.fits(value)) throw wrong(`server.${name} must be ${field.expected}, not ${JSON.stringify(value)}`);
  }
  const { auth, ...others } = section;
  if (!isRecord(auth)) return { ...SERVER_DEFAULTS, ...section };
  return { ...SERVER_DEFAULTS, ...others, auth: true, oauth: parseIssuer(auth) };
}

interface SettingField {
  readonly expected: string;
  readonly fits: (value: unknown) => boolean;
  readonly schema: JsonSchema;
}

const FLAG: SettingField = {
  expected: "true or false",
  fits: (value) => typeof value === "boolean",
  schema: { type: "boolean" },
};

const TEXTS: SettingField = {
  expected: "a list of strings",
  fits: (value) => Array.isArray(value) && value.every((each) => typeof each === "string"),
  schema: { type: "array", items: { type: "string" } },
};

const FIELDS: Readonly<Record<Exclude<keyof HttpServerSettings, "oauth">, SettingField>> = {
  host: {
    expected: "a name or an address",
    fits: (value) => typeof value === "string" && value !== "",
    schema: { type: "string", minLength: 1 },
  },
  port: wholeNumber(0, 65_535),
  auth: {
    expected: "true, false or a section with issuer and audience",
    fits: (value) => typeof value === "boolean" || isRecord(value),
    schema: { anyOf: [FLAG.schema, ISSUER_SCHEMA] },
  },
  console: FLAG,
  socket: FLAG,
  expose: choice(EXPOSES),
  names: choice(TOOL_NAMES),
  budgetTokens: wholeNumber(0),
  allowedHosts: TEXTS,
  allowedOrigins: TEXTS,
  bodyBytes: wholeNumber(1),
  headerBytes: wholeNumber(1_024),
  requestSeconds: wholeNumber(1, 86_400),
  sessions: wholeNumber(1),
  sessionIdleSeconds: wholeNumber(1),
  log: choice(["text", "json"]),
  drainSeconds: wholeNumber(0, 86_400),
};

const MEANINGS: Readonly<Record<keyof typeof FIELDS, string>> = {
  host: "the address at which the server listens",
  port: "the port; 0 picks a free one",
  auth: "whether requests need a token, or the issuer of OAuth tokens that are accepted",
  console: "offers the web console at `/`",
  socket: "lets `skillgate run` and `skillgate call` of the same user use the running server",
  expose:
    "what clients see as tools: three tools, every method, the tool `call` for methods by path, or what fits into `budgetTokens`",
  names: "how methods are named as tools: with their skill, or as their server names them",
  budgetTokens: "tokens of all definitions up to which `expose: auto` shows every method",
  allowedHosts: "host names that clients may use in addition to the loopback names",
  allowedOrigins: "origins from which browsers may call in addition to the loopback ones",
  bodyBytes: "the size of a request",
  headerBytes: "the size of the headers of a request",
  requestSeconds: "seconds for a whole request to arrive",
  sessions: "open MCP sessions",
  sessionIdleSeconds: "seconds after which an unused session ends",
  log: "how `skillgate serve` writes its log",
  drainSeconds: "seconds that requests have to finish when the server stops",
};

function wholeNumber(least: number, most = Number.MAX_SAFE_INTEGER): SettingField {
  return {
    expected: `a whole number from ${least}${most === Number.MAX_SAFE_INTEGER ? "" : ` to ${most}`}`,
    fits: (value) => Number.isSafeInteger(value) && Number(value) >= least && Number(value) <= most,
    schema: { type: "integer", minimum: least, ...(most < Number.MAX_SAFE_INTEGER && { maximum: most }) },
  };
}

function choice(values: readonly string[]): SettingField {
  return {
    expected: values.join(", "),
    fits: (value) => typeof value === "string" && values.includes(value),
    schema: { enum: values },
  };
}

function wrong(what: string): SkillgateError {
  return new SkillgateError("CONFIG_INVALID", sentence("CONFIG_INVALID", what));
}

/** The section `server` as a JSON Schema. */
export const SERVER_SCHEMA: JsonSchema = {
  type: "object",
  description: "The server of `skillgate serve --http`.",
  additionalProperties: false,
  properties: Object.fromEntries(
    Object.entries(FIELDS).map(([name, { schema }]) => [
      name,
      {
        ...schema,
        default: SERVER_DEFAULTS[name as keyof typeof FIELDS],
        description: MEANINGS[name as keyof typeof FIELDS],
      },
    ]),
  ),
};
