import type {
  AccountDefinition,
  Accounts,
  AccountStatus,
  AccountTest,
  BrowserLogin,
  DeviceLogin,
  LoginBrowser,
  NewConnection,
  LoginTarget,
  Revocation,
  Rotation,
  ServerLogin,
  UnreadableConnection,
} from "../../accounts/index.ts";
import { type Caller, formatCaller, mayAdminister, mayRead, OWNER, requireAdmin } from "../../model/caller.ts";
import type { Catalog } from "../../model/catalog.ts";
import type { CallerOption } from "../../runtime.ts";
import type { RuntimeParts } from "./parts.ts";

/** An account, and the owner of a connection: the caller itself by default, or everyone if the account is for everyone. */
export interface AccountTarget extends CallerOption {
  readonly name: string;
  /** The id of a caller; `null` for everyone. */
  readonly owner?: string | null | undefined;
}

/** The values that a person enters to connect an account. */
export interface AccountForm {
  readonly name: string;
  readonly type: AccountDefinition["type"];
  readonly isPerCaller: boolean;
  /** True if the settings have the credential. */
  readonly isFromSettings: boolean;
  /** The names of the values to enter; none for OAuth. */
  readonly values: readonly string[];
  /** How OAuth requests tokens: the person agrees in the browser, or types a code. */
  readonly grant?: "code" | "client" | "device";
  /** The local port to which the browser returns, if the provider knows only this one. */
  readonly callbackPort?: number;
}

/**
 * An account to connect by a login at its provider, for these scopes beside those of the settings. Without scopes there, it is for
 * those that the operations of its APIs ask for.
 */
export interface AccountLoginTarget extends AccountTarget {
  readonly scopes?: readonly string[];
}

/** An account with the skills whose methods use it, of those that the viewer may see. */
export interface ListedAccount extends AccountStatus {
  readonly skills: readonly string[];
}

/**
 * The accounts of a runtime. A caller lists, connects, tests and revokes its own connections; those of others and of everyone need
 * `admin:ManageServers`. No function returns a value.
 */
export interface RuntimeAccountsApi {
  list(options?: CallerOption): Promise<readonly ListedAccount[]>;
  /** Returns what must be entered. Throws `OPTION_INVALID` for an unknown name. */
  describe(name: string): Promise<AccountForm>;
  /** Stores values of a connection in place of those before. Throws `OPTION_INVALID`, `ADMIN_MISSING`. */
  connect(target: AccountTarget, values: readonly string[]): Promise<void>;
  /** Begins a login whose browser returns to this process, to exactly this URL. Throws `OPTION_INVALID`, `ADMIN_MISSING`. */
  logIn(target: AccountLoginTarget, redirectUrl: string): Promise<BrowserLogin>;
  /** Begins a login by a code that the person types on any device. Throws as `logIn`. */
  logInByCode(target: AccountLoginTarget): Promise<DeviceLogin>;
  /**
   * Begins a login whose browser may return to another process of the store, and returns the page of the provider. `cookie` is a
   * secret that only this browser has. Throws as `logIn`.
   */
  beginLogin(target: AccountLoginTarget, browser: Omit<LoginBrowser, "caller">): Promise<URL>;
  /** Finishes such a login, for the URL to which the browser has returned, with its cookie. */
  finishLogin(returned: URL, cookie: string): Promise<NewConnection>;
  /** Makes the request of the setting `test`; without it, only reads the credential. Throws `OPTION_INVALID`, `ADMIN_MISSING`. */
  test(target: AccountTarget): Promise<AccountTest>;
  /** Deletes a connection, and says whether its tokens may still be valid at the provider. Throws `ADMIN_MISSING`. */
  revoke(target: AccountTarget): Promise<Revocation>;
  /** Lists the logins at MCP servers, of the caller itself or of all. */
  listServerLogins(options?: CallerOption): Promise<readonly ServerLogin[]>;
  /** Lists the logins at MCP servers that cannot be decrypted. Throws `ADMIN_MISSING`. */
  listUnreadableLogins(options?: CallerOption): Promise<readonly UnreadableConnection[]>;
  /** Deletes a login at an MCP server; returns false if there was none. Throws `ADMIN_MISSING`. */
  removeServerLogin(login: Pick<ServerLogin, "server" | "owner"> & CallerOption): Promise<boolean>;
  /** Names links of a server at this address, in place of commands, to callers that must connect an account of theirs. */
  linkTo(baseUrl: string): void;
  /** Encrypts all credentials with the first key. Throws `ADMIN_MISSING`. */
  rotate(options?: CallerOption): Promise<Rotation>;
  /** Lists the connections whose values cannot be decrypted. Throws `ADMIN_MISSING`. */
  listUnreadable(options?: CallerOption): Promise<readonly UnreadableConnection[]>;
}

export function createAccountsApi(parts: RuntimeParts): RuntimeAccountsApi {
  const { accounts, registry } = parts;
  const find = async ({ name, owner, caller = OWNER }: AccountTarget): Promise<OwnedAccount> => {
    const opened = await accounts.open();
    // A connection of an account that the settings do not have any more can be revoked.
    const own = opened.find(name)?.isPerCaller === false ? null : caller.id;
    const target = owner === undefined ? own : owner;
    if (target !== caller.id) requireAdmin(caller, "ManageServers");
    return { opened, name, owner: target, caller };
  };
  return {
    async list({ caller = OWNER } = {}) {
      const opened = await accounts.open();
      const list = await opened.list({ id: caller.id, seesAll: mayAdminister(caller, "ManageServers") });
      return list.map((status) => ({ ...status, skills: listSkills(status.name, registry.catalog, caller) }));
    },
    async describe(name) {
      const { isFromSettings, listValueNames } = await import("../../accounts/index.ts");
      const definition = (await accounts.open()).getDefinition(name);
      const { type, isPerCaller } = definition;
      const form = { name, type, isPerCaller, isFromSettings: isFromSettings(definition) };
      if (definition.type !== "oauth") return { ...form, values: listValueNames(definition) };
      const { grant, callbackPort } = definition;
      return { ...form, values: [], grant, ...(callbackPort !== undefined && { callbackPort }) };
    },
    async connect(target, values) {
      const found = await find(target);
      await found.opened.connect(found.name, found.owner, values);
      report(parts, "connected", found);
    },
    ...createLogins(parts, find),
    async test(target) {
      const { opened, name, owner, caller } = await find(target);
      const definition = opened.getDefinition(name);
      const account = opened.find(name);
      if (account === undefined) throw new TypeError(`The account ${name} has no settings`);
      const { testAccount } = await import("../../accounts/index.ts");
      return testAccount(definition, account, { ...caller, id: owner ?? caller.id });
    },
    async revoke(target) {
      const found = await find(target);
      const revocation = await found.opened.revoke(found.name, found.owner);
      if (revocation.isRevoked) report(parts, "revoked", found, revocation.left);
      return revocation;
    },
    ...createServerLoginsApi(parts),
    linkTo: (baseUrl) => accounts.linkTo(baseUrl),
    async rotate({ caller = OWNER } = {}) {
      requireAdmin(caller, "ManageServers");
      const rotation = await (await accounts.open()).rotate();
      const more = await (await parts.logins?.open())?.rotate();
      if (more === undefined) return rotation;
      const unreadable = [...rotation.unreadable, ...more.unreadable];
      return { ...rotation, changed: rotation.changed + more.changed, unreadable };
    },
    async listUnreadable({ caller = OWNER } = {}) {
      requireAdmin(caller, "ManageServers");
      return (await accounts.open()).listUnreadable();
    },
  };
}

function createServerLoginsApi(
  parts: RuntimeParts,
): Pick<RuntimeAccountsApi, "listServerLogins" | "listUnreadableLogins" | "removeServerLogin"> {
  return {
    async listServerLogins({ caller = OWNER } = {}) {
      const list = (await (await parts.logins?.open())?.list()) ?? [];
      return mayAdminister(caller, "ManageServers") ? list : list.filter(({ owner }) => owner === caller.id);
    },
    async listUnreadableLogins({ caller = OWNER } = {}) {
      requireAdmin(caller, "ManageServers");
      return (await (await parts.logins?.open())?.listUnreadable()) ?? [];
    },
    async removeServerLogin({ server, owner, caller = OWNER }) {
      if (owner !== caller.id) requireAdmin(caller, "ManageServers");
      const isRemoved = (await (await parts.logins?.open())?.remove({ server, owner })) ?? false;
      if (isRemoved) reportLoginEnd(parts, { server, owner, caller });
      return isRemoved;
    },
  };
}

type FindOwned = (target: AccountTarget) => Promise<OwnedAccount>;

function createLogins(
  parts: RuntimeParts,
  find: FindOwned,
): Pick<RuntimeAccountsApi, "logIn" | "logInByCode" | "beginLogin" | "finishLogin"> {
  const toTarget = async (
    { opened, name, owner }: OwnedAccount,
    { scopes = [] }: AccountLoginTarget,
  ): Promise<LoginTarget> => {
    const definition = opened.getDefinition(name);
    const isOpen = definition.type === "oauth" && definition.scopes.length === 0;
    const needed = isOpen ? await listNeededScopes(name, parts) : [];
    return { name, owner, scopes: [...needed, ...scopes] };
  };
  const reported = async (login: Promise<NewConnection>, found: OwnedAccount): Promise<NewConnection> => {
    const connection = await login;
    report(parts, "connected", found);
    return connection;
  };
  return {
    async logIn(target, redirectUrl) {
      const found = await find(target);
      const login = await found.opened.logins.inBrowser(await toTarget(found, target), redirectUrl);
      return { ...login, finish: (returned) => reported(login.finish(returned), found) };
    },
    async logInByCode(target) {
      const found = await find(target);
      const login = await found.opened.logins.byCode(await toTarget(found, target));
      return { ...login, finish: (signal) => reported(login.finish(signal), found) };
    },
    async beginLogin(target, browser) {
      const found = await find(target);
      return found.opened.logins.begin(await toTarget(found, target), { ...browser, caller: found.caller.id });
    },
    async finishLogin(returned, cookie) {
      const opened = await parts.accounts.open();
      const { caller, ...connection } = await opened.logins.finish(returned, cookie);
      const { name, owner } = connection;
      report(parts, "connected", { opened, caller: { ...OWNER, id: caller }, name, owner });
      return connection;
    },
  };
}

/** Lists the scopes that the operations of APIs with an account ask for. */
async function listNeededScopes(account: string, { settings, providers }: RuntimeParts): Promise<readonly string[]> {
  if (!settings.apis.some(({ accounts }) => accounts.some(([, name]) => name === account))) return [];
  await providers.open();
  await providers.apis?.known;
  return providers.apis?.listScopes(account) ?? [];
}

interface OwnedAccount {
  readonly opened: Accounts;
  readonly name: string;
  readonly owner: string | null;
  /** Changes the connection. */
  readonly caller: Caller;
}

/** Lists the skills with a method that uses an account and that a caller may see. */
function listSkills(account: string, { skills }: Catalog, caller: Caller): readonly string[] {
  return skills.flatMap(({ name, methods }) => {
    const isUsed = methods.some(
      ({ path, definition }) => definition.accounts?.includes(account) && mayRead(caller, path),
    );
    return isUsed ? [name] : [];
  });
}

/** Notes the end of a login at an MCP server in the log, and in the audit log if there is one. */
function reportLoginEnd(
  { log, audit }: RuntimeParts,
  { server, owner, caller }: Pick<ServerLogin, "server" | "owner"> & { readonly caller: Caller },
): void {
  log("info", `The login at ${server} was removed by ${formatCaller(caller)}`);
  const time = new Date().toISOString();
  const facts = { event: "login removed", caller: caller.id, method: `login:${server}`, owner, outcome: "ok" };
  audit?.writer.add({ time, ...facts });
}

/** Notes a change of a connection in the log, and in the audit log if there is one. `left` says why a revoked credential may be valid. */
function report(
  { log, audit }: RuntimeParts,
  change: string,
  { opened, name, owner, caller }: OwnedAccount,
  left?: string,
): void {
  const title = opened.find(name)?.getTitle({ ...caller, id: owner ?? caller.id }) ?? name;
  const remark = left === undefined ? "" : `; its credential may still be valid at the service: ${left}`;
  log("info", `The account ${title} was ${change} by ${formatCaller(caller)}${remark}`);
  const time = new Date().toISOString();
  const facts = { event: `account ${change}`, caller: caller.id, method: `account:${name}`, owner, outcome: "ok" };
  audit?.writer.add({ time, ...facts, ...(left !== undefined && { left }) });
}
