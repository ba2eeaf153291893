import type { CredentialPlace } from "../model/account.ts";
import { hashValueFully } from "../shared/digest.ts";
import { MIN_SECRET_LENGTH } from "../shared/masks/mask.ts";

/** An account of the settings. */
export type AccountDefinition = ApiKeyDefinition | BasicDefinition | BearerDefinition | OAuthDefinition;

/** An account whose credential is values that do not change by themselves. */
export type StaticDefinition = ApiKeyDefinition | BasicDefinition | BearerDefinition;

interface CommonDefinition {
  readonly name: string;
  /** Each caller has a connection of its own. */
  readonly isPerCaller: boolean;
  /** Origins that may get the credential, beside those of the APIs and MCP servers whose settings name the account. */
  readonly servers: readonly string[];
  /** Names of skills that may read the credential itself. */
  readonly reveal: readonly string[];
  /** Its service may be at an address of a private network. */
  readonly isPrivate: boolean;
  /** Says which secrets of the settings are missing: `STRIPE_KEY is not set`. The account cannot be used then. */
  readonly unset?: string;
  /** The URL of a harmless request that shows whether the service accepts the credential. */
  readonly test?: string;
}

/** One value or several, each in a place of its own. */
export interface ApiKeyDefinition extends CommonDefinition {
  readonly type: "apiKey";
  readonly in: CredentialPlace["in"];
  readonly names: readonly string[];
  /** The text before each value: `Token `. */
  readonly prefix: string;
  /** The values, in the order of the names, if the settings have them. Secret. */
  readonly values?: readonly string[];
}

export interface BasicDefinition extends CommonDefinition {
  readonly type: "basic";
  /** The name and the password, if the settings have them. Secret. */
  readonly values?: readonly [username: string, password: string];
}

export interface BearerDefinition extends CommonDefinition {
  readonly type: "bearer";
  /** The token, if the settings have it. Secret. */
  readonly values?: readonly [token: string];
}

export interface OAuthDefinition extends CommonDefinition {
  readonly type: "oauth";
  /** How tokens are requested: a person agrees in the browser, the client asks for itself, or a person types a code on another device. */
  readonly grant: "code" | "client" | "device";
  /** The URL of the provider, whose metadata have the URLs that are not given here. */
  readonly issuer?: string;
  readonly authorizationUrl?: string;
  readonly tokenUrl?: string;
  readonly deviceUrl?: string;
  readonly revocationUrl?: string;
  readonly clientId: string;
  /** Secret. */
  readonly clientSecret?: string;
  /** How the client proves who it is: in the header, in the body, or only by its id. */
  readonly clientAuth: "basic" | "post" | "none";
  readonly scopes: readonly string[];
  readonly audience?: string;
  readonly resource?: string;
  /** Further parameters of the authorization and of requests for tokens. */
  readonly parameters: Readonly<Record<string, string>>;
  /** The local port to which the browser returns; any free one by default. */
  readonly callbackPort?: number;
}

/** True for an account that no person connects: the settings have all that its credential needs. */
export function isFromSettings(definition: AccountDefinition): boolean {
  return definition.type === "oauth" ? definition.grant === "client" : definition.values !== undefined;
}

/** Returns the secret values of an account in the settings. */
export function listDefinedSecrets(definition: AccountDefinition): readonly string[] {
  if (definition.unset !== undefined) return [];
  if (definition.type !== "oauth")
    return definition.values === undefined ? [] : listSecrets(definition, definition.values);
  return definition.clientSecret === undefined ? [] : [definition.clientSecret];
}

/**
 * Returns the forms of a credential that no text may have: each value, and what is sent of it. The name of a user is not secret, except
 * beside a password that is too short for one: some services take a key as the name, with any password.
 */
export function listSecrets(definition: StaticDefinition, values: readonly string[]): readonly string[] {
  if (definition.type !== "basic") return values;
  const [username = "", password = ""] = values;
  const isKey = password.length < MIN_SECRET_LENGTH;
  return [...(isKey ? [username] : []), password, encodeBasic(username, password)];
}

export function encodeBasic(username: string, password: string): string {
  return Buffer.from(`${username}:${password}`).toString("base64");
}

/** Returns the places of the credential of an account in a request. */
export function listPlaces(definition: AccountDefinition): readonly CredentialPlace[] {
  if (definition.type !== "apiKey") return [{ in: "header", name: "Authorization" }];
  return definition.names.map((name) => ({ in: definition.in, name }));
}

/**
 * Returns the digest of what decides who gets the credential. After a change, credentials that were connected before are sent
 * nowhere, so that a changed file of settings cannot send them to another place.
 */
export function digestDefinition(definition: AccountDefinition): string {
  const { name, type, isPerCaller, servers, test } = definition;
  const origins = test === undefined ? servers : [...servers, new URL(test).origin];
  const common = { name, type, isPerCaller, servers: origins.toSorted(), places: listPlaces(definition) };
  if (definition.type !== "oauth") return hashValueFully(common);
  const { issuer, authorizationUrl, tokenUrl, deviceUrl, revocationUrl, clientId } = definition;
  return hashValueFully({ ...common, issuer, authorizationUrl, tokenUrl, deviceUrl, revocationUrl, clientId });
}
