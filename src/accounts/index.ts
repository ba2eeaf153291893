import { createError, getMessage } from "../errors.ts";
import type { Account, FindAccount } from "../model/account.ts";
import { isTextList } from "../model/json.ts";
import type { KnownSecrets } from "../shared/secrets.ts";
import { describeUnknownName } from "../shared/suggest.ts";
import type { AccountRow, AccountTable, LazyDatabase } from "../store/index.ts";
import { type AccountContext, createAccount, findConnectionFlaw } from "./account.ts";
import { connectValues, listUnreadable, type Rotation, rotateValues, type UnreadableConnection } from "./changes.ts";
import { createConnections, type EndedConnection, type EndListener } from "./connections.ts";
import {
  type AccountDefinition,
  digestDefinition,
  listDefinedSecrets,
  listSecrets,
  type StaticDefinition,
} from "./definition.ts";
import { type DescribeConnect, getConnectionTitle, requestError } from "./failures.ts";
import type { KeySource } from "./key-source.ts";
import { type AccountLogins, createLogins } from "./logins.ts";
import { createOAuthConnections, type OAuthConnections } from "./oauth/index.ts";
import { type AccountStatus, type AccountViewer, listStatuses } from "./status.ts";
import { createVault, type Vault } from "./vault.ts";

export type { Rotation, UnreadableConnection } from "./changes.ts";
export type { EndedConnection } from "./connections.ts";
export { findValueFlaw, listValueNames } from "./credential.ts";
export type * from "./definition.ts";
export { isFromSettings, listDefinedSecrets } from "./definition.ts";
export { describeConnect, type DescribeConnect } from "./failures.ts";
export type { LoginTarget } from "./logins.ts";
export type { BrowserLogin, DeviceLogin, LoginBrowser, NewConnection } from "./oauth/index.ts";
export { createKeySource, type KeySettings, type KeySource } from "./key-source.ts";
export { createServerLogins, type ServerLogin, type ServerLogins } from "./server-logins/index.ts";
export type { AccountStatus, AccountViewer } from "./status.ts";
export { type AccountTest, testAccount } from "./test-account.ts";

export interface AccountsOptions {
  readonly definitions: readonly AccountDefinition[];
  readonly database: Pick<LazyDatabase, "open">;
  readonly keys: KeySource;
  /** Takes every value before it is used. */
  readonly secrets: Pick<KnownSecrets, "add" | "addPassing">;
  readonly describeConnect: DescribeConnect;
  /** Gets each connection that this process has found to be over: its owner must connect it again. */
  readonly onReconnect?: (connection: EndedConnection) => void;
  readonly now?: () => number;
}

/** The accounts of the settings, and the connections of their owners. */
export interface Accounts {
  readonly find: FindAccount;
  /** Finds an account by its name, as the settings define it. Throws `OPTION_INVALID`. */
  getDefinition(name: string): AccountDefinition;
  /** Lists the accounts with their connections: those of an owner, or of all owners. Reads the store. */
  list(viewer: AccountViewer): Promise<readonly AccountStatus[]>;
  /** Reads the connections of the store again. */
  refresh(): Promise<void>;
  /** Takes other settings. Connections whose settings have changed end. */
  replace(definitions: readonly AccountDefinition[]): void;
  /** Stores the values of an owner in place of those before; returns the id of the connection. Throws `OPTION_INVALID`. */
  connect(name: string, owner: string | null, values: readonly string[]): Promise<string>;
  /** Logins at providers, for accounts of the type `oauth`. */
  readonly logins: AccountLogins;
  /** Deletes the connection of an owner, and ends its tokens at the provider. */
  revoke(name: string, owner: string | null): Promise<Revocation>;
  /** Encrypts all values with the first key, which is a new one if a file has the keys. */
  rotate(): Promise<Rotation>;
  /** Lists the connections whose values cannot be decrypted. */
  listUnreadable(): Promise<readonly UnreadableConnection[]>;
  /** Calls back when a connection cannot be used any more, whichever process ended it. Returns a function that removes the listener. */
  onEnd(listener: EndListener): () => void;
  close(): void;
}

/** The result of a revocation. */
export interface Revocation {
  /** False if there was no connection. */
  readonly isRevoked: boolean;
  /** Why the deleted credential may still be valid at the service. */
  readonly left?: string;
}

/** Milliseconds between two writes of the last use of a connection. */
const LAST_USE_MS = 60_000;

/** Reads nothing before it is needed. */
export function createAccounts(options: AccountsOptions): Accounts {
  const { database, keys, secrets, onReconnect = () => {}, now = Date.now } = options;
  const vault = createVault(keys);
  const oauth = createOAuthConnections({
    database,
    vault,
    secrets,
    onReconnect: ({ id, name, owner }, why) =>
      onReconnect({ id, name, owner, title: getConnectionTitle(name, owner), why }),
    now,
  });
  const { onEnd, announce } = createEndListeners();
  let definitions: ReadonlyMap<string, AccountDefinition> = new Map();
  let accounts: ReadonlyMap<string, Account> = new Map();
  const connections = createConnections(
    database,
    (connection) => findConnectionFlaw(connection, definitions.get(connection.name)),
    announce,
  );
  const openTable = async (): Promise<AccountTable> => (await database.open()).accounts;
  const context: AccountContext = {
    findConnection: (name, owner) => connections.find(name, owner),
    readRow: async (name, owner) => (await openTable()).find(name, owner),
    readValues: (definition, row) => readValues(definition, row, { vault, secrets }),
    noteUse: createUseRecorder(openTable, now),
    onEnd: (id, listener) => followEnd(id, listener, onEnd),
    openOAuth: oauth.open,
    describeConnect: options.describeConnect,
  };
  const replace = (written: readonly AccountDefinition[]): void => {
    secrets.add(written.flatMap(listDefinedSecrets));
    definitions = new Map(written.map((definition) => [definition.name, definition]));
    accounts = new Map(written.map((definition) => [definition.name, createAccount(definition, context)]));
    connections.check();
  };
  const getDefinition = (name: string): AccountDefinition => {
    const definition = definitions.get(name);
    if (definition !== undefined) return definition;
    throw requestError(describeUnknownName("account", name, definitions.keys()).message);
  };
  replace(options.definitions);
  return {
    find: (name) => accounts.get(name),
    getDefinition,
    logins: createLogins({ oauth, getDefinition, refresh: () => connections.refresh() }),
    async list(viewer) {
      await connections.refresh();
      return listStatuses(definitions, connections.list(), viewer);
    },
    refresh: () => connections.refresh(),
    replace,
    async connect(name, owner, values) {
      const id = await connectValues(getDefinition(name), owner, values, { openTable, vault, secrets, now });
      await connections.refresh();
      return id;
    },
    async revoke(name, owner) {
      const row = await deleteConnection(name, owner, openTable);
      await connections.refresh();
      if (row === undefined) return { isRevoked: false };
      const left = await revokeTokens(row, definitions.get(name), oauth);
      return { isRevoked: true, ...(left !== undefined && { left }) };
    },
    rotate: () => rotateValues(keys, { openTable, vault }),
    listUnreadable: () => listUnreadable({ openTable, vault }),
    onEnd,
    close: () => connections.close(),
  };
}

function createEndListeners(): { readonly onEnd: Accounts["onEnd"]; readonly announce: EndListener } {
  const listeners = new Set<EndListener>();
  return {
    onEnd(listener) {
      listeners.add(listener);
      return () => void listeners.delete(listener);
    },
    announce: (ended) => listeners.forEach((listener) => listener(ended)),
  };
}

/** Calls back once when one connection was revoked or replaced. */
function followEnd(
  id: string,
  listener: Parameters<Account["onEnd"]>[1],
  onEnd: (listener: EndListener) => () => void,
): () => void {
  const stop = onEnd((ended) => {
    if (ended.id !== id || ended.end === undefined) return;
    stop();
    listener(ended.end);
  });
  return stop;
}

/** Deletes the connection of an owner, and returns it. */
async function deleteConnection(
  name: string,
  owner: string | null,
  openTable: () => Promise<AccountTable>,
): Promise<AccountRow | undefined> {
  const table = await openTable();
  const row = await table.find(name, owner);
  return row !== undefined && (await table.delete(row.id)) ? row : undefined;
}

/** Ends the tokens of a deleted connection at its provider. Says why they may still be valid there; `undefined` if they are not. */
async function revokeTokens(
  row: AccountRow,
  definition: AccountDefinition | undefined,
  oauth: OAuthConnections,
): Promise<string | undefined> {
  if (definition === undefined) return "the settings do not have the account any more";
  if (definition.type !== "oauth") return undefined; // a person ends the value where it was made
  if (digestDefinition(definition) !== row.definition) return "its settings have changed since it was connected";
  try {
    return (await oauth.revoke(definition, row)) ? undefined : "the provider has no address for revocations";
  } catch (error) {
    return getMessage(error);
  }
}

/** Decrypts the values of a connection, which become known secrets. */
async function readValues(
  definition: StaticDefinition,
  row: AccountRow,
  { vault, secrets }: { readonly vault: Vault; readonly secrets: AccountsOptions["secrets"] },
): Promise<readonly string[]> {
  const values = await vault.open(row);
  // The digest of the definition is bound to the value, so that it has the form that the definition wants.
  if (!isTextList(values)) throw createError("ACCOUNT_UNAVAILABLE", `${row.name} has a stored value of another form`);
  secrets.addPassing(listSecrets(definition, values));
  return values;
}

/** Writes the last use of connections, at most once a minute for each, and without a wait: a full disk refuses no request. */
function createUseRecorder(openTable: () => Promise<AccountTable>, now: () => number): AccountContext["noteUse"] {
  const written = new Map<string, number>();
  return ({ id, lastUsed }) => {
    const time = now();
    if (time - Math.max(lastUsed ?? 0, written.get(id) ?? 0) < LAST_USE_MS) return;
    written.set(id, time);
    openTable()
      .then((table) => table.use(id, time))
      .catch(() => {}); // the next use tries again
  };
}
