import { randomUUID } from "node:crypto";

import { SkillgateError } from "../errors.ts";
import type { Account, FindAccount } from "../model/account.ts";
import { isTextList } from "../model/json.ts";
import type { KnownSecrets } from "../shared/secrets.ts";
import { describeUnknownName } from "../shared/suggest.ts";
import type { AccountRow, AccountTable, LazyDatabase } from "../store/index.ts";
import { type AccountContext, createAccount, findConnectionFlaw, type OpenOAuth } from "./account.ts";
import { createConnections, type EndedConnection } from "./connections.ts";
import { findValueFlaw } from "./credential.ts";
import {
  type AccountDefinition,
  digestDefinition,
  isFromSettings,
  listDefinedSecrets,
  listSecrets,
  type StaticDefinition,
} from "./definition.ts";
import { accountError, type DescribeConnect, getConnectionTitle, requestError } from "./failures.ts";
import type { KeySource } from "./key-source.ts";
import { type AccountStatus, type AccountViewer, listStatuses } from "./status.ts";
import { createVault, type Vault } from "./vault.ts";

export type { OpenOAuth } from "./account.ts";
export type { EndedConnection } from "./connections.ts";
export type * from "./definition.ts";
export { describeConnect, type DescribeConnect } from "./failures.ts";
export { createKeySource, type KeySettings, type KeySource } from "./key-source.ts";
export type { AccountStatus, AccountViewer } from "./status.ts";

export interface AccountsOptions {
  readonly definitions: readonly AccountDefinition[];
  readonly database: Pick<LazyDatabase, "open">;
  readonly keys: KeySource;
  /** Takes every value before it is used. */
  readonly secrets: Pick<KnownSecrets, "add">;
  readonly openOAuth: OpenOAuth;
  readonly describeConnect: DescribeConnect;
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
  /** Takes other settings. StoredConnections whose settings have changed end. */
  replace(definitions: readonly AccountDefinition[]): void;
  /** Stores the values of an owner in place of those before; returns the id of the connection. Throws `OPTION_INVALID`. */
  connect(name: string, owner: string | null, values: readonly string[]): Promise<string>;
  /** Deletes the connection of an owner; returns false if there was none. */
  revoke(name: string, owner: string | null): Promise<boolean>;
  /** Encrypts all values with the first key, which is a new one if a file has the keys. */
  rotate(): Promise<Rotation>;
  /** Calls back when a connection cannot be used any more, whichever process ended it. Returns a function that removes the listener. */
  onEnd(listener: (ended: EndedConnection) => void): () => void;
  close(): void;
}

export interface Rotation {
  /** True if a new key was made; otherwise the owner of the variable or the setting writes a new first key. */
  readonly isKeyNew: boolean;
  /** Where the keys are. */
  readonly keys: string;
  /** The number of values that were encrypted again. */
  readonly changed: number;
  /** Titles of connections whose values cannot be read. */
  readonly unreadable: readonly string[];
}

/** Milliseconds between two writes of the last use of a connection. */
const LAST_USE_MS = 60_000;

/** Reads nothing before it is needed. */
export function createAccounts(options: AccountsOptions): Accounts {
  const { database, keys, secrets, now = Date.now } = options;
  const vault = createVault(keys);
  const listeners = new Set<(ended: EndedConnection) => void>();
  let definitions: ReadonlyMap<string, AccountDefinition> = new Map();
  let accounts: ReadonlyMap<string, Account> = new Map();
  const connections = createConnections(
    database,
    (connection) => findConnectionFlaw(connection, definitions.get(connection.name)),
    (ended) => listeners.forEach((listener) => listener(ended)),
  );
  const openTable = async (): Promise<AccountTable> => (await database.open()).accounts;
  const context: AccountContext = {
    findConnection: (name, owner) => connections.find(name, owner),
    readRow: async (name, owner) => (await openTable()).find(name, owner),
    readValues: (definition, row) => readValues(definition, row, { vault, secrets }),
    noteUse: createUseRecorder(openTable, now),
    onEnd(id, listener) {
      const follow = (ended: EndedConnection): void => {
        if (ended.id !== id || ended.end === undefined) return;
        listeners.delete(follow);
        listener(ended.end);
      };
      listeners.add(follow);
      return () => void listeners.delete(follow);
    },
    openOAuth: options.openOAuth,
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
    async list(viewer) {
      await connections.refresh();
      return listStatuses(definitions, connections.list(), viewer);
    },
    refresh: () => connections.refresh(),
    replace,
    async connect(name, owner, values) {
      const definition = requireConnectable(getDefinition(name), owner, values);
      secrets.add(listSecrets(definition, values));
      const place = { id: randomUUID(), name, owner, definition: digestDefinition(definition) };
      const value = await vault.seal(place, values);
      await (await openTable()).replace({ ...NEW_ROW, ...place, value, created: now() });
      await connections.refresh();
      return place.id;
    },
    async revoke(name, owner) {
      const table = await openTable();
      const row = await table.find(name, owner);
      const isFound = row !== undefined && (await table.delete(row.id));
      await connections.refresh();
      return isFound;
    },
    async rotate() {
      const isKeyNew = await keys.renew();
      const rotated = await encryptAgain(await openTable(), vault);
      return { isKeyNew, keys: await keys.describe(), ...rotated };
    },
    onEnd(listener) {
      listeners.add(listener);
      return () => void listeners.delete(listener);
    },
    close: () => connections.close(),
  };
}

const NEW_ROW = {
  label: null,
  scopes: [],
  state: "connected",
  reason: null,
  expires: null,
  lastUsed: null,
  version: 1,
  claimedBy: null,
  claimedUntil: null,
} as const satisfies Partial<AccountRow>;

/** Throws `OPTION_INVALID` for an owner that cannot have such a connection, and for values that cannot be its credential. */
function requireConnectable(
  definition: AccountDefinition,
  owner: string | null,
  values: readonly string[],
): StaticDefinition {
  const { name, isPerCaller } = definition;
  if (isFromSettings(definition)) throw requestError(`the settings have the credential of the account ${name}`);
  if (definition.type === "oauth")
    throw requestError(`the account ${name} is connected by its provider, not with a value`);
  if (isPerCaller !== (owner !== null))
    throw requestError(
      `the account ${name} is for ${isPerCaller ? "each caller, not for everyone" : "everyone, not for a caller"}`,
    );
  const flaw = findValueFlaw(definition, values);
  if (flaw !== undefined) throw requestError(`the credential of the account ${name}: ${flaw}`);
  return definition;
}

/** Decrypts the values of a connection, which become known secrets. */
async function readValues(
  definition: StaticDefinition,
  row: AccountRow,
  { vault, secrets }: { readonly vault: Vault; readonly secrets: AccountsOptions["secrets"] },
): Promise<readonly string[]> {
  const values = await vault.open(row);
  // The digest of the definition is bound to the value, so that it has the form that the definition wants.
  if (!isTextList(values)) throw accountError("ACCOUNT_UNAVAILABLE", `${row.name} has a stored value of another form`);
  secrets.add(listSecrets(definition, values));
  return values;
}

/** Encrypts each value that has another key than the first one. A value that another process changes meanwhile has the first key already. */
async function encryptAgain(table: AccountTable, vault: Vault): Promise<Pick<Rotation, "changed" | "unreadable">> {
  const unreadable: string[] = [];
  let changed = 0;
  for (const row of await table.list()) {
    if (await vault.isCurrent(row)) continue;
    const value = await vault.open(row).catch((error: unknown) => {
      if (error instanceof SkillgateError) return undefined;
      throw error;
    });
    if (typeof value !== "object" || value === null) unreadable.push(getConnectionTitle(row.name, row.owner));
    else if (await table.update(row, { value: await vault.seal(row, value) })) changed++;
  }
  return { changed, unreadable };
}

/** Writes the last use of connections, at most once a minute for each, and without a wait: a full disk refuses no request. */
function createUseRecorder(openTable: () => Promise<AccountTable>, now: () => number): AccountContext["noteUse"] {
  const written = new Map<string, number>();
  return ({ id, lastUsed }) => {
    const time = now();
    if (time - Math.max(lastUsed ?? 0, written.get(id) ?? 0) < LAST_USE_MS) return;
    written.set(id, time);
    openTable().then(
      (table) => table.use(id, time),
      () => {}, // the next use tries again
    );
  };
}
