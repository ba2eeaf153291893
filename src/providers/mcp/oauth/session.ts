import {
  auth,
  type AuthOptions,
  computeScopeUnion,
  type DpopSession,
  isStrictScopeSuperset,
  IssuerMismatchError,
  type StoredOAuthTokens,
} from "@modelcontextprotocol/client";

import { truncateText } from "../../../shared/format-text.ts";
import type { KnownSecrets } from "../../../shared/secrets.ts";
import { readable } from "../stdio/output-tail.ts";
import { isNear } from "../../../shared/http/addresses.ts";
import { type Callback, listenForCallback } from "../../../shared/http/callback.ts";
import type { IdentityProviderConfig, OAuthConfig } from "./config.ts";
import { type FlowOptions, GrantFlow, type GrantOwner, isBoundToKey, type OAuthGrant, parseGrant } from "./flow.ts";
import { guardedFetch } from "../../../shared/http/guarded-fetch.ts";
import type { AllowedAddresses } from "../../../shared/http/guarded-lookup.ts";
import { IdentityProvider } from "./identity-provider.ts";
import { isExpired, requireAudience } from "./identity-tokens.ts";
import { ProofSessions } from "./proof-keys.ts";
import { describeRefusal } from "./reasons.ts";
import type { TokenStore } from "../../../model/account.ts";

/** How long the user has to allow access. */
const CONSENT_MS = 300_000;

/** Maximum number of logins during one connection attempt: for a token, then for more scopes. */
const MAX_LOGINS = 3;

/** Maximum number of characters of the reason for which access was not granted. */
const REASON_CHARACTERS = 500;

/** The redirect URL of flows that do not open a browser. */
const NO_CALLBACK = "http://127.0.0.1/callback";

/**
 * Opens the page on which the user allows access. A program that follows the redirects itself returns the last URL;
 * otherwise the session waits for the browser.
 */
export type Authorize = (request: { readonly server: string; readonly url: URL }) => Promise<URL | void> | URL | void;

export interface OAuthSessionOptions extends GrantOwner {
  /** The server's name, for display. */
  readonly name: string;
  readonly config: OAuthConfig;
  /** Reads the settings again: their commands may print another secret now. */
  readonly readConfig: () => Promise<OAuthConfig>;
  readonly store: TokenStore;
  /** Without it, only earlier grants are used and refreshed. */
  readonly authorize: Authorize | undefined;
  /** Receives each token that is used. */
  readonly secrets: KnownSecrets;
}

export interface ServerToken {
  readonly text: string;
  /** Signs the proofs with which a token that is bound to a key is sent. */
  readonly proofs?: DpopSession;
}

/** The server's challenge in the response that refused a request. */
export interface Challenge extends Pick<AuthOptions, "scope" | "resourceMetadataUrl"> {
  /** The server asks for a token that is bound to a key. */
  readonly isProofAsked?: boolean;
}

/** A refused request: the token that it carried, and the challenge of the server. */
export interface AuthorizationRefusal {
  readonly token: string | undefined;
  readonly challenge: Challenge;
}

/** Access was not granted; the message says why. */
export class AuthorizationError extends Error {}

/** The authorization for one server: stores, refreshes and requests tokens. */
export class OAuthSession {
  readonly #options: OAuthSessionOptions;
  readonly #identity: IdentityProvider | undefined;
  readonly #proofs = new ProofSessions();
  /** The scopes requested so far; a step-up requests them as well. */
  #scope: string | undefined;
  #isProofAsked = false;
  #renewing: Promise<boolean> | undefined;
  #isConnecting = false;
  #refusal: AuthorizationRefusal | undefined;

  constructor(options: OAuthSessionOptions) {
    const { config, readConfig, secrets } = options;
    const { identityProvider } = config;
    this.#options = options;
    this.#identity =
      identityProvider &&
      new IdentityProvider({
        config: identityProvider,
        login: createIdentityLogin(identityProvider, options),
        readIdToken: async () => (await readConfig()).identityProvider?.idToken,
        secrets,
      });
  }

  async accessToken(): Promise<ServerToken | undefined> {
    const { tokens, proofKey } = (await this.grant()) ?? {};
    if (tokens === undefined) return undefined;
    const text = tokens.access_token;
    if (proofKey === undefined || !isBoundToKey(tokens)) return { text };
    return { text, proofs: await this.#proofs.open(proofKey) };
  }

  /** Refreshes the stored tokens without a user. The SDK deletes those that the authorization server refuses to refresh. */
  async refresh(): Promise<void> {
    const granted = await this.grant();
    if (granted === undefined) return;
    await this.#stepUnlessRenewed(granted.tokens.access_token, this.#createFlow(granted.redirectUrl), {});
  }

  /** Reads the stored tokens. */
  async grant(): Promise<OAuthGrant | undefined> {
    const { store, config } = this.#options;
    return parseGrant(await store.get(GrantFlow.key(this.#options)), config);
  }

  /**
   * Connects, and logs in between attempts if the server refuses. A login inside an attempt would exceed the time limit
   * of the handshake, because the user has a longer one.
   */
  async connecting<Result>(connect: () => Promise<Result>, closing: AbortSignal): Promise<Result> {
    for (let logins = 0; ; logins++) {
      this.#isConnecting = true;
      this.#refusal = undefined;
      try {
        return await connect();
      } catch (thrown) {
        const { token, challenge }: Partial<AuthorizationRefusal> = this.#refusal ?? {};
        const isAnswered = challenge !== undefined && logins < MAX_LOGINS;
        if (!isAnswered || !(await Promise.race([this.renew(token, challenge), aborted(closing)]))) throw thrown;
      } finally {
        this.#isConnecting = false;
      }
    }
  }

  /** Handles a refused request; true if the request must be repeated. */
  async answer(refusal: AuthorizationRefusal): Promise<boolean> {
    this.#refusal = refusal;
    return !this.#isConnecting && this.renew(refusal.token, refusal.challenge);
  }

  /** Replaces the refused token; false if that needs a user and none can be asked. */
  renew(refused: string | undefined, challenge: Challenge): Promise<boolean> {
    this.#renewing ??= this.#renew(refused, challenge).finally(() => (this.#renewing = undefined));
    return this.#renewing;
  }

  async #renew(refused: string | undefined, challenge: Challenge): Promise<boolean> {
    const { grant = "authorization_code" } = this.#options.config;
    this.#isProofAsked ||= challenge.isProofAsked === true;
    try {
      return await (grant === "authorization_code" ? this.#ask(refused, challenge) : this.#claim(refused, challenge));
    } catch (thrown) {
      const reason = truncateText(readable(this.#options.secrets.maskText(describeRefusal(thrown))), REASON_CHARACTERS);
      throw new AuthorizationError(`cannot be authorized: ${reason}`, { cause: thrown });
    }
  }

  /** Gets a token without a browser; false if the identity provider needs a login and no user can be asked. */
  async #claim(refused: string | undefined, challenge: Challenge): Promise<boolean> {
    const parameters = await this.#getParameters();
    if (parameters === undefined) return false;
    const flow = this.#createFlow(undefined, parameters);
    return (await this.#stepUnlessRenewed(refused, flow, challenge)) === "AUTHORIZED";
  }

  /** The parameters of a token request without a browser; `undefined` without a login at the identity provider. */
  async #getParameters(): Promise<FlowOptions["parameters"] | undefined> {
    const { config, readConfig } = this.#options;
    if (config.grant === "client_credentials")
      return async () => new URLSearchParams({ grant_type: "client_credentials" });
    const toParameters = (assertion: string) =>
      new URLSearchParams({ grant_type: "urn:ietf:params:oauth:grant-type:jwt-bearer", assertion });
    const identity = this.#identity;
    if (identity === undefined) {
      const { assertion = "" } = (await isExpired(config.assertion ?? "")) ? await readConfig() : config;
      return async (target) => {
        // With `issuer`, the owner has named the authorization server.
        if (config.issuer === undefined) await requireAudience(assertion, target);
        return toParameters(assertion);
      };
    }
    const idToken = await identity.idToken();
    if (idToken === undefined) return undefined;
    return async (target) => toParameters(await identity.requestAssertion(idToken, target, config.clientId));
  }

  /** Refreshes the tokens, or asks the user. */
  async #ask(refused: string | undefined, challenge: Challenge): Promise<boolean> {
    const { authorize } = this.#options;
    const granted = await this.grant();
    if (granted === undefined && authorize === undefined) return false;
    const callback = authorize && (await listenForCallback(this.#port(granted?.redirectUrl)));
    try {
      return await this.#askWith(callback, { refused, challenge, registeredUrl: granted?.redirectUrl ?? NO_CALLBACK });
    } finally {
      callback?.close();
    }
  }

  async #askWith(
    callback: Callback | undefined,
    { refused, challenge, registeredUrl }: RenewalByUser,
  ): Promise<boolean> {
    const { store, authorize, name } = this.#options;
    const flow = this.#createFlow(callback?.redirectUrl ?? registeredUrl);
    if ((await this.#stepUnlessRenewed(refused, flow, challenge)) === "AUTHORIZED") return true;
    const url = flow.authorizationUrl;
    if (authorize === undefined || callback === undefined || url === undefined) return false;
    const arrived = callback.arrived(flow.state());
    const authorization = Promise.resolve(authorize({ server: name, url })).then((end) => end ?? arrived);
    const end = await Promise.race([authorization, arrived, tooLate()]);
    const answer = flow.readAnswer(end);
    await store.exclusively(GrantFlow.key(this.#options), () => this.#step(flow, { ...challenge, ...answer }));
    return true;
  }

  #createFlow(redirectUrl: string | undefined, parameters?: FlowOptions["parameters"]): GrantFlow {
    const { config, store } = this.#options;
    return new GrantFlow({
      config,
      store,
      owner: this.#options,
      redirectUrl,
      proofs: this.#proofs,
      isProofAsked: this.#isProofAsked,
      ...(parameters !== undefined && { parameters }),
    });
  }

  /** The previous holder of the lock may have obtained a new token already. */
  #stepUnlessRenewed(refused: string | undefined, flow: GrantFlow, challenge: Challenge) {
    return this.#options.store.exclusively(GrantFlow.key(this.#options), async () => {
      const current = (await this.grant())?.tokens.access_token;
      return current !== undefined && current !== refused ? "AUTHORIZED" : this.#step(flow, challenge);
    });
  }

  async #step(
    provider: GrantFlow,
    { isProofAsked: _asked, ...challenge }: Challenge & Partial<AuthOptions>,
  ): Promise<"AUTHORIZED" | "REDIRECT"> {
    const { server } = this.#options;
    const had = (await provider.tokens())?.scope;
    if (challenge.scope !== undefined) this.#scope = computeScopeUnion(had, this.#scope, challenge.scope);
    const options: AuthOptions = {
      ...challenge,
      serverUrl: server,
      ...(this.#scope !== undefined && { scope: this.#scope }),
      fetchFn: guardedFetch(this.#reach()),
      // A refreshed token has no more scopes than the previous one.
      forceReauthorization: had !== undefined && isStrictScopeSuperset(this.#scope, had),
    };
    return auth(provider, options).catch((thrown: unknown) => {
      if (!isOwnIssuer(thrown, new URL(server))) throw thrown;
      return auth(provider, { ...options, skipIssuerMetadataValidation: true });
    });
  }

  /** A server in a private network may name private addresses; a server on the Internet must not. */
  #reach(): AllowedAddresses {
    const { server, config } = this.#options;
    return isNear(new URL(server)) || config.allowPrivate === true ? "private" : "public";
  }

  #port(registeredUrl: string | undefined): number {
    const { callbackPort } = this.#options.config;
    return callbackPort ?? Number(new URL(registeredUrl ?? NO_CALLBACK).port);
  }
}

interface RenewalByUser {
  readonly refused: string | undefined;
  readonly challenge: Challenge;
  /** The redirect URL of the last login. */
  readonly registeredUrl: string;
}

/** The login at an identity provider, which is stored beside the tokens of servers. */
function createIdentityLogin(provider: IdentityProviderConfig, options: OAuthSessionOptions) {
  const { issuer, clientId, scope = "openid" } = provider;
  const {
    config: { callbackPort },
    store,
  } = options;
  const owner: GrantOwner = { server: issuer, caller: options.caller, identityClient: clientId };
  // The owner has configured the address.
  const config: OAuthConfig = {
    ...provider,
    scope,
    allowPrivate: true,
    ...(callbackPort !== undefined && { callbackPort }),
  };
  const login = new OAuthSession({ ...options, ...owner, config });
  const key = GrantFlow.key(owner);
  return {
    tokens: async () => (await login.grant())?.tokens,
    renew: (refused: StoredOAuthTokens | undefined) =>
      shareLogin(store, key, () => login.renew(refused?.access_token, {})),
    refresh: () => login.refresh(),
    forget: () => store.delete(key),
  };
}

/** The running logins at identity providers by their keys, for all servers with one store. */
const runningLogins = new WeakMap<TokenStore, Map<string, Promise<boolean>>>();

/** Joins the running login of another server, so that the user is asked once. */
function shareLogin(store: TokenStore, key: string, login: () => Promise<boolean>): Promise<boolean> {
  const running = runningLogins.get(store) ?? new Map<string, Promise<boolean>>();
  runningLogins.set(store, running);
  const result = running.get(key) ?? login().finally(() => running.delete(key));
  running.set(key, result);
  return result;
}

/**
 * Under 2025-03-26 a server describes its authorization at its own root, and the issuer in that document does not have
 * to be the root: any URL with the server's origin is accepted.
 */
function isOwnIssuer(thrown: unknown, server: URL): boolean {
  if (!(thrown instanceof IssuerMismatchError) || thrown.kind !== "metadata") return false;
  const issuers = [thrown.expected, thrown.received];
  return issuers.every((url) => url !== undefined && URL.canParse(url) && new URL(url).origin === server.origin);
}

function aborted(signal: AbortSignal): Promise<never> {
  return new Promise((_, reject) => {
    if (signal.aborted) reject(signal.reason as Error);
    signal.addEventListener("abort", () => reject(signal.reason as Error), { once: true });
  });
}

function tooLate(): Promise<never> {
  return new Promise((_, reject) => {
    const error = new Error(`access was not granted within ${CONSENT_MS / 60_000} minutes`);
    setTimeout(() => reject(error), CONSENT_MS).unref();
  });
}
