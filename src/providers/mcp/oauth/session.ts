import {
  auth,
  type AuthOptions,
  ClientCredentialsProvider,
  computeScopeUnion,
  isStrictScopeSuperset,
  IssuerMismatchError,
  type OAuthClientProvider,
  PrivateKeyJwtProvider,
} from "@modelcontextprotocol/client";

import { getMessage } from "../../../errors.ts";
import type { KnownSecrets } from "../../../shared/secrets.ts";
import { addressIn, isPublicAddress } from "./addresses.ts";
import { type Callback, listenForCallback } from "./callback.ts";
import type { OAuthConfig } from "./config.ts";
import { GrantFlow, type GrantOwner, parseGrant } from "./flow.ts";
import { guardedFetch, type AllowedAddresses } from "./guarded-fetch.ts";
import type { TokenStore } from "./token-file.ts";

/** How long the user has to allow access. */
const CONSENT_MS = 300_000;

/** Maximum number of logins during one connection attempt: for a token, then for more scopes. */
const MAX_LOGINS = 3;

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
  readonly store: TokenStore;
  /** Without it, only earlier grants are used and refreshed. */
  readonly authorize: Authorize | undefined;
  /** Receives each token that is used. */
  readonly secrets: KnownSecrets;
}

/** The server's challenge in the response that refused a request. */
export type Challenge = Pick<AuthOptions, "scope" | "resourceMetadataUrl">;

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
  readonly #machine: OAuthClientProvider | undefined;
  /** The scopes requested so far; a step-up requests them as well. */
  #scope: string | undefined;
  #renewing: Promise<boolean> | undefined;
  #isConnecting = false;
  #refusal: AuthorizationRefusal | undefined;

  constructor(options: OAuthSessionOptions) {
    this.#options = options;
    this.#machine = machineProvider(options.config);
  }

  async accessToken(): Promise<string | undefined> {
    const tokens = this.#machine === undefined ? (await this.#granted())?.tokens : await this.#machine.tokens();
    if (tokens !== undefined) this.#options.secrets.add([tokens.access_token]);
    return tokens?.access_token;
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
    try {
      if (this.#machine !== undefined) return (await this.#step(this.#machine, challenge)) === "AUTHORIZED";
      const granted = await this.#granted();
      if (granted === undefined && this.#options.authorize === undefined) return false;
      const callback = this.#options.authorize && (await listenForCallback(this.#port(granted?.redirectUrl)));
      try {
        return await this.#ask(refused, challenge, callback, granted?.redirectUrl ?? NO_CALLBACK);
      } finally {
        callback?.close();
      }
    } catch (thrown) {
      throw new AuthorizationError(`cannot be authorized: ${getMessage(thrown)}`, { cause: thrown });
    }
  }

  async #ask(
    refused: string | undefined,
    challenge: Challenge,
    callback: Callback | undefined,
    registeredUrl: string,
  ): Promise<boolean> {
    const { config, store, authorize, name } = this.#options;
    const flow = new GrantFlow(config, store, this.#options, callback?.redirectUrl ?? registeredUrl);
    // The previous holder of the lock may have obtained a new token already.
    const result = await store.exclusively(async () => {
      const current = await this.accessToken();
      return current !== undefined && current !== refused ? "AUTHORIZED" : this.#step(flow, challenge);
    });
    if (result === "AUTHORIZED") return true;
    const url = flow.authorizationUrl;
    if (authorize === undefined || callback === undefined || url === undefined) return false;
    const arrived = callback.arrived(flow.state());
    const authorization = Promise.resolve(authorize({ server: name, url })).then((end) => end ?? arrived);
    const end = await Promise.race([authorization, arrived, tooLate()]);
    const answer = flow.readAnswer(end);
    await store.exclusively(() => this.#step(flow, { ...challenge, ...answer }));
    return true;
  }

  async #step(provider: OAuthClientProvider, challenge: Partial<AuthOptions>): Promise<"AUTHORIZED" | "REDIRECT"> {
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
    const url = new URL(server);
    const address = addressIn(url);
    const isNear = url.hostname === "localhost" || (address !== undefined && !isPublicAddress(address));
    return isNear || config.allowPrivate === true ? "private" : "public";
  }

  #port(registeredUrl: string | undefined): number {
    const { callbackPort } = this.#options.config;
    return callbackPort ?? Number(new URL(registeredUrl ?? NO_CALLBACK).port);
  }

  async #granted() {
    return parseGrant(await this.#options.store.get(GrantFlow.key(this.#options)));
  }
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

/** Returns the provider for client credentials, which need no user; `undefined` for other grants. */
function machineProvider(config: OAuthConfig): OAuthClientProvider | undefined {
  const { grant, clientId, clientSecret, privateKey, algorithm = "ES256", scope, issuer } = config;
  if (grant !== "client_credentials" || clientId === undefined) return undefined;
  const rest = { ...(scope !== undefined && { scope }), ...(issuer !== undefined && { expectedIssuer: issuer }) };
  return privateKey === undefined
    ? new ClientCredentialsProvider({ clientId, clientSecret: clientSecret ?? "", ...rest })
    : new PrivateKeyJwtProvider({ clientId, privateKey, algorithm, ...rest });
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
