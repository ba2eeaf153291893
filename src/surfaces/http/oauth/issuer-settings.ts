import { sentence, SkillgateError } from "../../../errors.ts";
import { isRecord, isTextList, type JsonSchema } from "../../../model/json.ts";
import { findPermissionFlaw, toNotation } from "../../../keys/index.ts";
import { describeUnknownField } from "../../../shared/suggest.ts";
import { isLoopback } from "../origin-check.ts";

/** The rights that one OAuth scope gives. */
export interface ScopeRights {
  /** As those of keys: `call:MathSkill.*`. */
  readonly permissions: readonly string[];
  readonly roles: readonly string[];
  /** Scopes of the policy, in addition to the OAuth scope itself. */
  readonly scopes: readonly string[];
}

/** An issuer whose access tokens are accepted: the section `server.auth`. */
export interface IssuerSettings {
  readonly issuer: string;
  /** Values of which a token must name at least one; the first that is a URL is the address of this server. */
  readonly audience: readonly string[];
  /** URL of the keys of the issuer; by default that of its metadata. */
  readonly jwksUri?: string;
  /** Scopes that every request requires. */
  readonly requiredScopes: readonly string[];
  /** Absent: a valid token gives the right to call every method. */
  readonly scopes?: ReadonlyMap<string, ScopeRights>;
}

const TEXTS: JsonSchema = { type: "array", items: { type: "string" } };
const URL_TEXT: JsonSchema = { type: "string", pattern: "^https?://" };

/** The rights of one OAuth scope as a JSON Schema. */
const RIGHTS_SCHEMA: JsonSchema = {
  type: "object",
  additionalProperties: false,
  properties: { permissions: TEXTS, roles: TEXTS, scopes: TEXTS },
};

const PROPERTIES: Readonly<Record<keyof IssuerSettings, JsonSchema>> = {
  issuer: URL_TEXT,
  audience: {
    anyOf: [
      { type: "string", minLength: 1 },
      { type: "array", minItems: 1, items: { type: "string", minLength: 1 } },
    ],
  },
  jwksUri: URL_TEXT,
  requiredScopes: { ...TEXTS, default: [] },
  scopes: { type: "object", additionalProperties: RIGHTS_SCHEMA },
};

/** The section `server.auth` as a JSON Schema. */
export const ISSUER_SCHEMA: JsonSchema = {
  type: "object",
  additionalProperties: false,
  required: ["issuer", "audience"],
  properties: PROPERTIES,
};

const FIELDS = Object.keys(PROPERTIES);

/** Parses the section `server.auth`; throws `CONFIG_INVALID`. */
export function parseIssuer(section: Readonly<Record<string, unknown>>): IssuerSettings {
  requireNames("server.auth", section, FIELDS);
  const { issuer, audience, jwksUri, requiredScopes = [], scopes } = section;
  const audiences = typeof audience === "string" ? [audience] : audience;
  if (!isTextList(audiences) || audiences.length === 0 || audiences.includes(""))
    throw wrongAuth("audience must be a text or a list of texts: the value that access tokens for this server name");
  if (!isTextList(requiredScopes)) throw wrongAuth("requiredScopes must be a list of scopes, as in [tools:call]");
  return {
    issuer: parseIssuerUrl("issuer", issuer),
    audience: audiences,
    ...(jwksUri !== undefined && { jwksUri: parseIssuerUrl("jwksUri", jwksUri) }),
    requiredScopes,
    ...(scopes !== undefined && { scopes: parseScopes(scopes) }),
  };
}

function parseIssuerUrl(name: string, value: unknown): string {
  const url = typeof value === "string" && URL.canParse(value) ? new URL(value) : undefined;
  const isSafe = url?.protocol === "https:" || (url?.protocol === "http:" && isLoopback(url.hostname));
  if (isSafe && typeof value === "string") return value;
  throw wrongAuth(`${name} must be an https URL, not ${JSON.stringify(value)}`);
}

function parseScopes(value: unknown): ReadonlyMap<string, ScopeRights> {
  if (!isRecord(value)) throw wrongAuth(`scopes must be a section, as in ${SCOPES_FORM}`);
  return new Map(Object.entries(value).map(([scope, rights]) => [scope, parseRights(scope, rights)]));
}

const SCOPES_FORM = 'scopes: { "tools:call": { permissions: ["call:*"], roles: [staff] } }';

function parseRights(scope: string, value: unknown): ScopeRights {
  if (!isRecord(value)) throw wrongAuth(`scopes.${scope} must be a section, as in ${SCOPES_FORM}`);
  requireNames(`server.auth.scopes.${scope}`, value, ["permissions", "roles", "scopes"]);
  const { permissions = [], roles = [], scopes = [] } = value;
  if (!isTextList(permissions) || !isTextList(roles) || !isTextList(scopes))
    throw wrongAuth(`permissions, roles and scopes of scopes.${scope} must be lists of texts`);
  const flaw = findPermissionFlaw(permissions);
  if (flaw !== undefined) throw wrongAuth(`scopes.${scope}: ${flaw}`);
  return { permissions: permissions.flatMap(toNotation), roles, scopes };
}

function requireNames(sectionPath: string, section: object, names: readonly string[]): void {
  const unknownName = Object.keys(section).find((name) => !names.includes(name));
  if (unknownName === undefined) return;
  const detail = describeUnknownField(unknownName, names);
  throw new SkillgateError(
    "CONFIG_INVALID",
    sentence("CONFIG_INVALID", `${sectionPath} has the unknown setting ${detail}`),
  );
}

function wrongAuth(values: string): SkillgateError {
  return new SkillgateError("CONFIG_INVALID", sentence("CONFIG_INVALID", `server.auth.${values}`));
}
