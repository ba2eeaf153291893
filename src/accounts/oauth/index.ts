import { hash, randomUUID } from "node:crypto";

import type { TokenRenewalOptions } from "./renew-row.ts";
import { isRecord } from "../../model/json.ts";
import type { AccountRow } from "../../store/index.ts";
import type { OpenOAuth } from "../account.ts";
import { NEW_ROW } from "../changes.ts";
import { digestDefinition, type OAuthDefinition } from "../definition.ts";
import { requestError } from "../failures.ts";
import { type AuthorizationSecrets, createOAuthClient, type OAuthClient } from "./client.ts";
import type { DeviceAuthorization } from "./device.ts";
import { createOpener } from "./open-account.ts";
import { createTokenRenewal } from "./renewal.ts";
import { type Grant, listTokens } from "./tokens.ts";

export type OAuthOptions = Omit<TokenRenewalOptions, "getClient">;

/** A login of which this process waits for the end. */
export interface BrowserLogin {
  /** The page of the provider. Its parameter `state` comes back. */
  readonly url: URL;
  /** Connects the account, for the URL to which the browser has returned. */
  finish(returned: URL): Promise<NewConnection>;
}

export interface DeviceLogin extends Pick<DeviceAuthorization, "userCode" | "url" | "completeUrl" | "expires"> {
  /** Connects the account when the person has agreed. */
  finish(signal: AbortSignal): Promise<NewConnection>;
}

/** A connection that was made by a login. */
export interface NewConnection {
  readonly id: string;
  readonly name: string;
  readonly owner: string | null;
  readonly label: string | null;
  readonly scopes: readonly string[];
  /** The scopes that were asked for, and that the provider does not name among the granted ones. */
  readonly missingScopes: readonly string[];
}

/** The connection of a login that may have begun at another process. */
export interface FinishedLogin extends NewConnection {
  /** The id of the caller that has logged in. */
  readonly caller: string;
}

/** The account to connect, its owner, and the scopes; those of the settings by default. */
export interface LoginRequest {
  readonly definition: OAuthDefinition;
  readonly owner: string | null;
  readonly scopes?: readonly string[];
}

/** The browser of a login. */
export interface LoginBrowser {
  /** The URL to which it returns, exactly. */
  readonly redirectUrl: string;
  /** A secret that only this browser has. */
  readonly cookie: string;
  /** The id of the caller that logs in, also for everyone. */
  readonly caller: string;
}

/** Connects and opens accounts of the type `oauth`. Requests to a provider reject with `ACCOUNT_UNAVAILABLE` or an `OAuthFailure`. */
export interface OAuthConnections {
  readonly open: OpenOAuth;
  /** Begins a login whose browser returns to this process. */
  logIn(request: LoginRequest, redirectUrl: string): Promise<BrowserLogin>;
  /** Begins a login by a code. */
  logInByCode(request: LoginRequest): Promise<DeviceLogin>;
  /** Begins a login whose browser may return to another process of the store; only the same browser can finish it. */
  begin(request: LoginRequest, browser: LoginBrowser): Promise<URL>;
  /** Finishes such a login. `find` finds the definition of an account. Throws `OPTION_INVALID` without one. */
  finish(returned: URL, cookie: string, find: (name: string) => OAuthDefinition | undefined): Promise<FinishedLogin>;
  /** Revokes the tokens of a connection at the provider; false if it offers no way. */
  revoke(definition: OAuthDefinition, row: AccountRow): Promise<boolean>;
}

/** A login in the browser ends after this time. */
const LOGIN_MS = 600_000;

export function createOAuthConnections(options: OAuthOptions): OAuthConnections {
  const { database, vault, now } = options;
  const getClient = createClients(now);
  const renewal = createTokenRenewal({ ...options, getClient });
  const openTable = async () => (await database.open()).accounts;
  const store = (request: LoginRequest, grant: Grant): Promise<NewConnection> => storeGrant(request, grant, options);
  return {
    open: createOpener({ renewal, getClient, secrets: options.secrets, now }),
    async logIn(request, redirectUrl) {
      const client = getClient(request.definition);
      const { url, secrets } = await client.begin(redirectUrl, request.scopes);
      return { url, finish: async (returned) => store(request, await client.finish(secrets, returned)) };
    },
    async logInByCode(request) {
      const device = await getClient(request.definition).beginDevice(request.scopes);
      return { ...device, finish: async (signal) => store(request, await device.wait(signal)) };
    },
    async begin({ definition, owner, scopes }, { redirectUrl, cookie, caller }) {
      const { url, secrets } = await getClient(definition).begin(redirectUrl, scopes);
      const flow = { id: digest(secrets.state), name: definition.name, owner, browser: digest(cookie) };
      const value = await vault.seal(flow, { secrets, caller, definition: digestDefinition(definition) });
      await (await openTable()).addFlow({ ...flow, value, expires: now() + LOGIN_MS }, now());
      return url;
    },
    async finish(returned, cookie, find) {
      const flow = await (await openTable()).takeFlow(digest(returned.searchParams.get("state") ?? ""));
      if (flow === undefined || flow.expires < now() || flow.browser !== digest(cookie)) throw requestError(NO_LOGIN);
      const { secrets, caller, definition: begun } = parseFlow(await vault.open(flow));
      const definition = find(flow.name);
      if (definition === undefined || digestDefinition(definition) !== begun) throw requestError(NO_LOGIN);
      const grant = await getClient(definition).finish(secrets, returned);
      return { ...(await store({ definition, owner: flow.owner, scopes: secrets.scopes }, grant)), caller };
    },
    revoke: async (definition, row) => {
      const tokens = await renewal.read(row);
      return getClient(definition).revoke(tokens);
    },
  };
}

const NO_LOGIN = "this login has ended, was begun in another browser, or is for other settings; begin it again";

function digest(text: string): string {
  return hash("sha256", text);
}

interface StoredFlow {
  readonly secrets: AuthorizationSecrets;
  readonly caller: string;
  readonly definition: string;
}

function parseFlow(value: unknown): StoredFlow {
  // The value was encrypted by `begin`, for this flow.
  if (isRecord(value) && isRecord(value["secrets"])) return value as unknown as StoredFlow;
  throw requestError(NO_LOGIN);
}

/** Creates one client for each definition. */
function createClients(now: () => number): (definition: OAuthDefinition) => OAuthClient {
  const clients = new WeakMap<OAuthDefinition, OAuthClient>();
  return (definition) => {
    const client = clients.get(definition) ?? createOAuthClient(definition, now);
    clients.set(definition, client);
    return client;
  };
}

/** Stores what a provider has granted in place of the connection before. */
async function storeGrant(
  { definition, owner, scopes: requestedScopes = definition.scopes }: LoginRequest,
  grant: Grant,
  { database, vault, secrets, now }: OAuthOptions,
): Promise<NewConnection> {
  const { tokens } = grant;
  const label = grant.label ?? null;
  secrets.addPassing(listTokens(tokens));
  const { name } = definition;
  const location = { id: randomUUID(), name, owner, definition: digestDefinition(definition) };
  const value = await vault.seal(location, tokens);
  const { scopes } = tokens;
  const facts = {
    label,
    scopes,
    expires: tokens.expires ?? null,
    created: now(),
    state: "connected",
    reason: null,
  } as const;
  await (await database.open()).accounts.replace({ ...NEW_ROW, ...location, ...facts, value });
  const missingScopes = requestedScopes.filter((scope) => !scopes.includes(scope) && !UNNAMED_SCOPES.has(scope));
  return { id: location.id, name, owner, label, scopes, missingScopes };
}

/** Scopes of OpenID Connect, which some providers grant without naming them, or name otherwise. */
const UNNAMED_SCOPES: ReadonlySet<string> = new Set(["openid", "profile", "email", "offline_access"]);
