import { createError } from "../errors.ts";
import { requireOwnable } from "./changes.ts";
import type { AccountDefinition, OAuthDefinition } from "./definition.ts";
import { getConnectionTitle, requestError } from "./failures.ts";
import { OAuthFailure } from "./oauth/failure.ts";
import type {
  BrowserLogin,
  DeviceLogin,
  FinishedLogin,
  LoginBrowser,
  LoginRequest,
  NewConnection,
  OAuthConnections,
} from "./oauth/index.ts";

/**
 * Connects accounts of the type `oauth` by a login at their provider; `scopes` are asked for beside those of the settings. Rejects with
 * `OPTION_INVALID` for an account or an owner that cannot be connected so, and with `ACCOUNT_UNAVAILABLE` if the provider gives no access.
 */
export interface AccountLogins {
  /** Begins a login whose browser returns to this process, to exactly this URL. */
  inBrowser(owned: LoginTarget, redirectUrl: string): Promise<BrowserLogin>;
  /** Begins a login by a code that a person types on another device. */
  byCode(owned: LoginTarget): Promise<DeviceLogin>;
  /**
   * Begins a login whose browser may return to another process of the store, and returns the page of the provider. `cookie` is a secret
   * that only this browser has.
   */
  begin(owned: LoginTarget, browser: LoginBrowser): Promise<URL>;
  /** Finishes such a login for the URL to which the browser has returned, with its cookie. */
  finish(returned: URL, cookie: string): Promise<FinishedLogin>;
}

/** The connection that a login makes. */
export interface LoginTarget {
  readonly name: string;
  /** The id of the caller; `null` for everyone. */
  readonly owner: string | null;
  readonly scopes?: readonly string[];
}

export interface LoginOptions {
  readonly oauth: OAuthConnections;
  /** Throws `OPTION_INVALID` for an unknown account. */
  readonly getDefinition: (name: string) => AccountDefinition;
  /** Reads the connections of the store again. */
  readonly refresh: () => Promise<void>;
}

export function createLogins({ oauth, getDefinition, refresh }: LoginOptions): AccountLogins {
  const toRequest = ({ name, owner, scopes = [] }: LoginTarget): LoginRequest => {
    const definition = requireLogin(getDefinition(name), owner);
    return { definition, owner, scopes: [...new Set([...definition.scopes, ...scopes])] };
  };
  const connect = async <Connection extends NewConnection>(
    title: string,
    finish: () => Promise<Connection>,
  ): Promise<Connection> => {
    const connection = await describeFailure(title, finish);
    await refresh();
    return connection;
  };
  return {
    async inBrowser(owned, redirectUrl) {
      const title = getConnectionTitle(owned.name, owned.owner);
      const login = await describeFailure(title, () => oauth.logIn(toRequest(owned), redirectUrl));
      return { url: login.url, finish: (returned) => connect(title, () => login.finish(returned)) };
    },
    async byCode(owned) {
      const title = getConnectionTitle(owned.name, owned.owner);
      const login = await describeFailure(title, () => oauth.logInByCode(toRequest(owned)));
      return { ...login, finish: (signal) => connect(title, () => login.finish(signal)) };
    },
    begin: (owned, browser) =>
      describeFailure(getConnectionTitle(owned.name, owned.owner), () => oauth.begin(toRequest(owned), browser)),
    finish: (returned, cookie) =>
      connect("the login", () =>
        oauth.finish(returned, cookie, (name) => {
          const definition = getDefinition(name);
          return definition.type === "oauth" ? definition : undefined;
        }),
      ),
  };
}

async function describeFailure<Result>(title: string, work: () => Promise<Result>): Promise<Result> {
  try {
    return await work();
  } catch (error) {
    throw error instanceof OAuthFailure ? createError("ACCOUNT_UNAVAILABLE", `${title}: ${error.message}`) : error;
  }
}

function requireLogin(definition: AccountDefinition, owner: string | null): OAuthDefinition {
  const { name, type } = definition;
  if (type !== "oauth") throw requestError(`the account ${name} is connected with a value, not by a login`);
  requireOwnable(definition, owner);
  return definition;
}
