import type { Caller } from "./caller.ts";

/** A place of a credential in a request. */
export interface CredentialPlace {
  readonly in: "header" | "query" | "cookie" | "body";
  /** The name of the header, the parameter, the cookie or the field. */
  readonly name: string;
}

/** A credential as it is sent: the value of each place. Secret. */
export type Credential = readonly (CredentialPlace & { readonly value: string })[];

/** The answer of a service that did not accept a credential. */
export interface CredentialRefusal {
  /** 401 or 403. */
  readonly status: number;
  /** The header `WWW-Authenticate`. */
  readonly challenge?: string | undefined;
}

/** An account as one caller uses it. */
export interface OpenAccount {
  /** Identifies the connection: what was cached or approved for one does not count for another. */
  readonly id: string;
  /** `github (ada)`, for people and models. */
  readonly title: string;
  readonly credential: Credential;
  /**
   * Returns another credential in place of one that was refused; `undefined` if it has no other. Rejects with `ACCOUNT_RECONNECT` if
   * its owner must connect it again, and with `ACCOUNT_SCOPES` if the credential lacks scopes.
   */
  renew(refusal: CredentialRefusal): Promise<OpenAccount | undefined>;
}

/** Why a connection does not exist any more. */
export type ConnectionEnd = "was revoked" | "was replaced";

/** An account of the settings, for sources, servers and skills that make requests with it. */
export interface Account {
  readonly name: string;
  /** Digest of the settings that decide who gets its credential. It depends on no secret. */
  readonly digest: string;
  /** The places of its credential, which no caller fills in. */
  readonly places: readonly CredentialPlace[];
  /** The origins that may get its credential, beside that of an API or a server whose settings name the account. */
  readonly servers: readonly string[];
  /** Each caller has a connection of its own. */
  readonly isPerCaller: boolean;
  /** Its service may be at an address of a private network. */
  readonly isPrivate: boolean;
  /** True if a skill may read the credential itself. */
  isRevealed(skill: string): boolean;
  /**
   * Returns the id of the connection that requests of a caller use, as far as this process knows. Throws `ACCOUNT_MISSING`,
   * `ACCOUNT_RECONNECT`. After `ACCOUNT_MISSING`, the connections of the store are read again with `Accounts.refresh`.
   */
  getId(caller: Caller): string;
  /** Returns the title of that connection: `github (ada)`. */
  getTitle(caller: Caller): string;
  /** Says how a caller connects it, or who corrects its value: `the owner of the server connects it: skillgate account connect …`. */
  describeConnect(caller: Caller): string;
  /** Reads the credential for a request, with a new token if the old one ends. Rejects as `getId` throws, and with `ACCOUNT_UNAVAILABLE`. */
  open(caller: Caller): Promise<OpenAccount>;
  /** Calls back once when a connection ends. Returns a function that removes the listener. */
  onEnd(id: string, listener: (end: ConnectionEnd) => void): () => void;
}

/** Finds the accounts of the settings by name. */
export type FindAccount = (name: string) => Account | undefined;

/** The accounts of the settings, as calls use them. */
export interface UsableAccounts {
  readonly find: FindAccount;
  /** Reads the connections of the store again. */
  refresh(): Promise<void>;
}

/** Accounts of a runtime that has none. */
export const NO_ACCOUNTS: UsableAccounts = Object.freeze({ find: () => undefined, refresh: async () => {} });

/** Stores the grants of logins at MCP servers: values by key. A login is used by all processes with the same store. */
export interface TokenStore {
  /** Rejects with `ACCOUNT_UNAVAILABLE` for a value that cannot be decrypted. */
  get(key: string): Promise<unknown>;
  set(key: string, value: unknown): Promise<void>;
  delete(key: string): Promise<void>;
  /** Runs work under the lock of a key, which all processes with the same store share. */
  exclusively<Result>(key: string, work: () => Promise<Result>): Promise<Result>;
}
