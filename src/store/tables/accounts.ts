import { defineTable, integer, json, optional, type RowOf, type StoreEngine, text } from "../database/table.ts";

/** The credential of one owner for an account of the settings. Times are in milliseconds since 1970. */
export type AccountRow = RowOf<typeof ACCOUNTS>;

/** `reconnect`: the service does not accept the credential any more, so its owner must connect it again. */
export type AccountState = "connected" | "reconnect";

export const ACCOUNTS = defineTable({
  name: "accounts",
  key: ["id"],
  columns: {
    /** A new one for each connection: what was cached or approved for an earlier one does not count for it. */
    id: text(),
    /** The name of the account in the settings. */
    name: text(),
    /** The id of the caller; `null` for the credential of everyone. */
    owner: optional(text()),
    /** Digest of the settings that decide to whom the credential is sent; after a change it must be connected again. */
    definition: text(),
    /** The encrypted credential. */
    value: text(),
    /** The user at the service, if it is known. */
    label: optional(text()),
    scopes: json<readonly string[]>(),
    state: text<AccountState>(),
    /** Why the state is `reconnect`. */
    reason: optional(text()),
    /** When the access token ends. */
    expires: optional(integer()),
    created: integer(),
    lastUsed: optional(integer()),
    /** Counts the changes of the value: an older value never replaces a newer one. */
    version: integer(),
    /** The process that asks for a new token, and when its claim ends. */
    claimedBy: optional(text()),
    claimedUntil: optional(integer()),
  },
  indexes: [["name"]],
});

/** The `definition` of a login at an MCP server, whose name is its key; it is no account of the settings. */
export const SERVER_LOGIN = "login at an MCP server";

/** An authorization that was begun and waits for the browser. */
export type AccountFlowRow = RowOf<typeof ACCOUNT_FLOWS>;

export const ACCOUNT_FLOWS = defineTable({
  name: "accountFlows",
  key: ["id"],
  columns: {
    /** Digest of the state that the browser brings back. */
    id: text(),
    name: text(),
    owner: optional(text()),
    /** Digest of the cookie of the browser in which it began. */
    browser: text(),
    /** The encrypted secrets of the authorization. */
    value: text(),
    expires: integer(),
  },
  indexes: [["expires"]],
});

/** The credentials of all owners. */
export interface AccountTable {
  /** Adds a credential in place of those with the same name and owner; returns the ids of these. */
  replace(account: AccountRow): Promise<readonly string[]>;
  get(id: string): Promise<AccountRow | undefined>;
  /** Returns the credential of an owner; `null` is the one of everyone. */
  find(name: string, owner: string | null): Promise<AccountRow | undefined>;
  /** Lists the credentials for accounts of the settings, the oldest first. */
  list(): Promise<readonly AccountRow[]>;
  /** Lists the logins at MCP servers. */
  listLogins(): Promise<readonly AccountRow[]>;
  /** Changes a credential if its version is still the given one; returns false otherwise. Raises the version with a new value. */
  update(
    account: Pick<AccountRow, "id" | "version">,
    changes: Partial<Omit<AccountRow, "id" | "version">>,
  ): Promise<boolean>;
  /** Notes the time of a use. */
  use(id: string, time: number): Promise<void>;
  /** Claims a credential for one process until a time; returns false if the claim of another process is in force. */
  claim(id: string, claim: { readonly by: string; readonly until: number; readonly now: number }): Promise<boolean>;
  release(id: string, by: string): Promise<void>;
  /** Returns false if it does not exist. */
  delete(id: string): Promise<boolean>;
  /** Adds an authorization, and deletes those that are over. */
  addFlow(flow: AccountFlowRow, now: number): Promise<void>;
  /** Returns an authorization, and deletes it: each is used once. */
  takeFlow(id: string): Promise<AccountFlowRow | undefined>;
}

export function createAccountTable(engine: StoreEngine): AccountTable {
  return {
    async replace(account) {
      const before = await engine.transaction("accounts", async (rows) => {
        const owned = { name: account.name, owner: account.owner };
        const found = await rows.select(ACCOUNTS, owned);
        await rows.delete(ACCOUNTS, owned);
        await rows.insert(ACCOUNTS, [account]);
        return found.map(({ id }) => id);
      });
      await engine.announce();
      return before;
    },
    get: async (id) => (await engine.select(ACCOUNTS, { id }))[0],
    find: async (name, owner) => (await engine.select(ACCOUNTS, { name, owner }))[0],
    async list() {
      const rows = await engine.select(ACCOUNTS, {}, { order: ["created", "id"] });
      return rows.filter(({ definition }) => definition !== SERVER_LOGIN);
    },
    listLogins: () => engine.select(ACCOUNTS, { definition: SERVER_LOGIN }, { order: ["name"] }),
    async update({ id, version }, changes) {
      const next = changes.value === undefined ? version : version + 1;
      const isFound = (await engine.update(ACCOUNTS, { id, version }, { ...changes, version: next })) > 0;
      await engine.announce();
      return isFound;
    },
    use: async (id, time) => void (await engine.update(ACCOUNTS, { id }, { lastUsed: time })),
    async claim(id, { by, until, now }) {
      const claim = { claimedBy: by, claimedUntil: until };
      if ((await engine.update(ACCOUNTS, { id, claimedBy: null }, claim)) > 0) return true;
      return (await engine.update(ACCOUNTS, { id, claimedUntil: { lt: now } }, claim)) > 0;
    },
    async release(id, by) {
      await engine.update(ACCOUNTS, { id, claimedBy: by }, { claimedBy: null, claimedUntil: null });
      await engine.announce();
    },
    async delete(id) {
      const isFound = (await engine.delete(ACCOUNTS, { id })) > 0;
      await engine.announce();
      return isFound;
    },
    async addFlow(flow, now) {
      await engine.delete(ACCOUNT_FLOWS, { expires: { lt: now } });
      await engine.insert(ACCOUNT_FLOWS, [flow]);
    },
    takeFlow: (id) =>
      engine.transaction("accountFlows", async (rows) => {
        const [flow] = await rows.select(ACCOUNT_FLOWS, { id });
        await rows.delete(ACCOUNT_FLOWS, { id });
        return flow;
      }),
  };
}
