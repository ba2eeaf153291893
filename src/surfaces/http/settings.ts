import { sentence, SkillgateError } from "../../errors.ts";
import { EXPOSES, TOOL_NAMES } from "../../model/tools/exposure.ts";
import { isRecord, type JsonSchema } from "../../model/json.ts";
import { findSettingMistakes, withForm } from "../../shared/settings/check-settings.ts";
import type { Exposure } from "../mcp/index.ts";
import { ISSUER_SCHEMA, type IssuerSettings, parseIssuer } from "./oauth/issuer-settings.ts";

/** The section `server` of settings.yaml. */
export interface HttpServerSettings extends Exposure {
  readonly host: string;
  /** 0 picks a free port. */
  readonly port: number;
  /** The origin at which browsers and clients reach the server; empty if it is the one at which it listens. */
  readonly publicUrl: string;
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
  /** The endpoints whose cards are public: `/mcp`, and `/mcp/NAME` of profiles. */
  readonly cards: readonly string[];
  readonly bodyBytes: number;
  readonly headerBytes: number;
  /** Time limit for a whole request to arrive. */
  readonly requestSeconds: number;
  /** Maximum number of open MCP sessions. */
  readonly sessions: number;
  readonly sessionIdleSeconds: number;
  /** Members of `_meta` that calls of programs pass on to MCP servers. */
  readonly passMeta: readonly string[];
  /** How `skillgate serve` writes its log to stderr. */
  readonly log: "text" | "json";
  /** Time that requests in progress have to finish when the server shuts down. */
  readonly drainSeconds: number;
}

export const SERVER_DEFAULTS: HttpServerSettings = Object.freeze({
  host: "127.0.0.1",
  port: 3333,
  publicUrl: "",
  auth: true,
  console: true,
  socket: true,
  expose: "auto",
  names: "qualified",
  budgetTokens: 3_000,
  allowedHosts: Object.freeze([]),
  allowedOrigins: Object.freeze([]),
  cards: Object.freeze([]),
  bodyBytes: 4 << 20,
  headerBytes: 16 << 10,
  requestSeconds: 30,
  sessions: 256,
  sessionIdleSeconds: 1_800,
  passMeta: Object.freeze([]),
  log: "text",
  drainSeconds: 10,
});

const FLAG: JsonSchema = { type: "boolean" };
const TEXTS: JsonSchema = { type: "array", items: { type: "string" } };

/** The section `server` as a JSON Schema. */
export const SERVER_SCHEMA: JsonSchema = {
  type: "object",
  description: "The server of `skillgate serve --http`.",
  additionalProperties: false,
  properties: withDefaults({
    host: setting("the address at which the server listens", { type: "string", minLength: 1 }),
    port: setting("the port; 0 picks a free one", wholeNumber(0, 65_535)),
    publicUrl: setting(
      "the address at which browsers reach the server, such as https://gate.example, where a proxy is in front of it",
      { type: "string", pattern: "^(https?://[^/?#@\\s]+)?$" },
    ),
    auth: setting(
      "whether requests need a token, or the issuer of OAuth tokens that are accepted",
      withForm("true, false or a section with issuer and audience", { anyOf: [FLAG, ISSUER_SCHEMA] }),
    ),
    console: setting("offers the web console at `/`", FLAG),
    socket: setting("lets `skillgate run` and `skillgate call` of the same user use the running server", FLAG),
    expose: setting(
      "what clients see as tools: three tools, every method, the tool `call` for methods by path, or what fits into `budgetTokens`",
      { enum: EXPOSES },
    ),
    names: setting("how methods are named as tools: with their skill, or as their server names them", {
      enum: TOOL_NAMES,
    }),
    budgetTokens: setting("tokens of all definitions up to which `expose: auto` shows every method", wholeNumber(0)),
    allowedHosts: setting("host names that clients may use in addition to the loopback names", TEXTS),
    allowedOrigins: setting("origins from which browsers may call in addition to the loopback ones", TEXTS),
    cards: setting(
      "endpoints whose server cards need no token, and are in the catalog: `/mcp`, and `/mcp/NAME` of profiles",
      { type: "array", items: { type: "string", pattern: "^/mcp(/[A-Za-z0-9][\\w-]{0,63})?$" }, maxItems: 100 },
    ),
    bodyBytes: setting("the size of a request", wholeNumber(1)),
    headerBytes: setting("the size of the headers of a request", wholeNumber(1_024)),
    requestSeconds: setting("seconds for a whole request to arrive", wholeNumber(1, 86_400)),
    sessions: setting("open MCP sessions", wholeNumber(1)),
    sessionIdleSeconds: setting("seconds after which an unused session ends", wholeNumber(1)),
    passMeta: setting(
      "members of `_meta`, such as `openai/locale`, that calls of a program pass on to MCP servers as its client has sent them",
      TEXTS,
    ),
    log: setting("how `skillgate serve` writes its log", { enum: ["text", "json"] }),
    drainSeconds: setting("seconds that requests have to finish when the server stops", wholeNumber(0, 86_400)),
  }),
};

/** Parses the section `server` and fills in defaults; throws `CONFIG_INVALID` if a name or a value is invalid. */
export function parseServerSettings(section: unknown): HttpServerSettings {
  if (section == null) return SERVER_DEFAULTS;
  const { auth, ...others } = isRecord(section) ? section : { auth: undefined };
  // The issuer has a parser of its own.
  const checked = isRecord(section) && isRecord(auth) ? others : section;
  const [mistake] = findSettingMistakes(SERVER_SCHEMA, checked, ["server"]);
  if (mistake !== undefined) throw new SkillgateError("CONFIG_INVALID", sentence("CONFIG_INVALID", mistake.error));
  if (!isRecord(auth)) return { ...SERVER_DEFAULTS, ...section };
  return { ...SERVER_DEFAULTS, ...others, auth: true, oauth: parseIssuer(auth) };
}

function setting(description: string, schema: JsonSchema): JsonSchema {
  return { ...schema, description };
}

function wholeNumber(least: number, most?: number): JsonSchema {
  return { type: "integer", minimum: least, ...(most !== undefined && { maximum: most }) };
}

type ServerSetting = Exclude<keyof HttpServerSettings, "oauth">;

function withDefaults(schemas: Readonly<Record<ServerSetting, JsonSchema>>): Readonly<Record<string, JsonSchema>> {
  return Object.fromEntries(
    Object.entries(schemas).map(([name, { description, ...schema }]) => [
      name,
      { ...schema, default: SERVER_DEFAULTS[name as ServerSetting], description },
    ]),
  );
}
