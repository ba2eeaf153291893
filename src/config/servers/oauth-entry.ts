import { isRecord } from "../../model/json.ts";
import type { IdentityProviderConfig, OAuthConfig } from "../../providers/mcp/index.ts";
import { formatChoices } from "../../shared/format-text.ts";
import { type Fields, entryError } from "./entry-fields.ts";

type FieldsFor = (name: string, entry: Readonly<Record<string, unknown>>) => Fields;

/** How a server is logged in to, as far as its entry says; `false` if it must never be. */
export function parseOAuth(written: unknown, fieldsFor: FieldsFor, server: string): OAuthConfig | false | undefined {
  if (written === undefined || written === false) return written;
  if (written === true) return {};
  if (!isRecord(written)) throw objectError(server, "oauth");
  const fields = fieldsFor(server, written);
  const identityProvider = parseIdentityProvider(fields.raw("identityProvider"), fieldsFor, server);
  const config = onlyWritten<OAuthConfig>({
    ...parseClient(fields),
    clientMetadataUrl: fields.text("clientMetadataUrl"),
    grant: parseGrant(fields, server) ?? (identityProvider && "jwt_bearer"),
    assertion: fields.text("assertion"),
    identityProvider,
    dpop: fields.flag("dpop"),
    issuer: fields.text("issuer"),
    callbackPort: fields.positive("callbackPort"),
    allowPrivate: fields.flag("allowPrivate"),
  });
  requireGrant(config, server);
  return config;
}

function parseIdentityProvider(
  written: unknown,
  fieldsFor: FieldsFor,
  server: string,
): IdentityProviderConfig | undefined {
  if (written === undefined) return undefined;
  if (!isRecord(written)) throw objectError(server, "identityProvider");
  const fields = fieldsFor(server, written);
  const { clientId, ...client } = parseClient(fields);
  const issuer = fields.text("issuer");
  if (issuer === undefined || clientId === undefined) {
    const fix = 'write "identityProvider": { "issuer": "https://…", "clientId": "…" }';
    throw entryError(server, `identityProvider.${issuer === undefined ? "issuer" : "clientId"} is required`, {
      key: "oauth",
      fix,
    });
  }
  return onlyWritten<IdentityProviderConfig>({
    issuer,
    clientId,
    ...client,
    tokenEndpoint: fields.text("tokenEndpoint"),
    idToken: fields.text("idToken"),
  });
}

function parseClient(fields: Fields) {
  return {
    clientId: fields.text("clientId", "client_id"),
    clientSecret: fields.text("clientSecret", "client_secret"),
    privateKey: fields.text("privateKey"),
    algorithm: fields.text("algorithm"),
    scope: fields.text("scope") ?? (fields.texts("scopes").join(" ") || undefined),
  };
}

const GRANTS = ["authorization_code", "client_credentials", "jwt_bearer"] as const;

function parseGrant(fields: Fields, server: string): OAuthConfig["grant"] {
  const written = fields.text("grant");
  const grant = GRANTS.find((each) => each === written);
  if (written === undefined || grant !== undefined) return grant;
  const what = `grant ${JSON.stringify(written)} is not known, use ${formatChoices(GRANTS)}`;
  throw entryError(server, what, { key: "oauth" });
}

/** A grant without what it needs would fail only at the first login. */
function requireGrant(config: OAuthConfig, server: string): void {
  const { grant = "authorization_code", clientId, assertion, identityProvider } = config;
  const refuse = (what: string, fix: string): never => {
    throw entryError(server, what, { key: "oauth", fix });
  };
  if (grant !== "authorization_code" && clientId === undefined)
    refuse(`oauth.clientId is required for the grant ${grant}`, 'write "oauth": { "clientId": "…" }');
  const sources = [assertion, identityProvider].filter((source) => source !== undefined);
  if (grant !== "jwt_bearer" && sources.length > 0) {
    const key = assertion === undefined ? "identityProvider" : "assertion";
    refuse(`oauth.${key} cannot be used with the grant ${grant}`, 'write "grant": "jwt_bearer"');
  }
  if (grant === "jwt_bearer" && sources.length !== 1) {
    const what = `the grant jwt_bearer needs an assertion or an identityProvider${sources.length > 1 ? ", not both" : ""}`;
    refuse(what, 'write "assertion": "${cmd:…}" or "identityProvider": { … }');
  }
}

function objectError(server: string, key: "oauth" | "identityProvider"): Error {
  const orFalse = key === "oauth" ? " or false" : "";
  return entryError(server, `${key} must be an object${orFalse}`, {
    key: "oauth",
    fix: `write "${key}": { "clientId": "…" }`,
  });
}

function onlyWritten<Config extends object>(config: { [Key in keyof Config]: Config[Key] | undefined }): Config {
  return Object.fromEntries(Object.entries(config).filter(([, value]) => value !== undefined)) as Config;
}

interface AccountEntry {
  readonly name: string;
  readonly fields: Fields;
}

/** Reads the account with which requests to a server are made. Throws a `BadEntry` if the entry logs in by itself, too. */
export function parseAccount(
  { name, fields }: AccountEntry,
  { headers }: { readonly headers: Readonly<Record<string, string>> },
): { readonly account?: string; readonly oauth?: false } {
  const account = fields.text("account");
  if (account === undefined) return {};
  if (account.trim() === "")
    throw entryError(name, "account is empty", {
      key: "account",
      fix: 'write the name of an account: "account": "github"',
    });
  const login = findLogin(fields, headers);
  if (login === undefined) return { account, oauth: false };
  throw entryError(name, `account cannot be used beside ${login}, as both log in to the server`, {
    key: "account",
    fix: `remove ${login}, or remove account`,
  });
}

/** Refuses an account of a process, which gets no requests over HTTP. */
export function refuseAccount({ name, fields }: AccountEntry): void {
  if (fields.raw("account") === undefined) return;
  throw entryError(name, "account is for servers over HTTP, which have a url and no command", {
    key: "account",
    fix: 'write "env": { "TOKEN": "${TOKEN}" } for a process',
  });
}

function findLogin(fields: Fields, headers: Readonly<Record<string, string>>): string | undefined {
  const oauth = fields.raw("oauth");
  if (oauth !== undefined && oauth !== false) return "oauth";
  const isAuthorization = (name: string): boolean => name.toLowerCase() === "authorization";
  if (Object.keys(headers).some(isAuthorization)) return "the header Authorization";
  return fields.texts("passHeaders").some(isAuthorization) ? "authorization in passHeaders" : undefined;
}
