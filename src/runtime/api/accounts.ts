import type {
  AccountDefinition,
  Accounts,
  AccountStatus,
  AccountTest,
  Rotation,
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
  /** Makes the request of the setting `test`; without it, only reads the credential. Throws `OPTION_INVALID`, `ADMIN_MISSING`. */
  test(target: AccountTarget): Promise<AccountTest>;
  /** Deletes a connection; returns false if there was none. Throws `ADMIN_MISSING`. */
  revoke(target: AccountTarget): Promise<boolean>;
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
      const values = definition.type === "oauth" ? [] : listValueNames(definition);
      return { name, type, isPerCaller, isFromSettings: isFromSettings(definition), values };
    },
    async connect(target, values) {
      const found = await find(target);
      await found.opened.connect(found.name, found.owner, values);
      report(parts, "connected", found);
    },
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
      const isRevoked = await found.opened.revoke(found.name, found.owner);
      if (isRevoked) report(parts, "revoked", found);
      return isRevoked;
    },
    async rotate({ caller = OWNER } = {}) {
      requireAdmin(caller, "ManageServers");
      return (await accounts.open()).rotate();
    },
    async listUnreadable({ caller = OWNER } = {}) {
      requireAdmin(caller, "ManageServers");
      return (await accounts.open()).listUnreadable();
    },
  };
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

/** Notes a change of a connection in the log, and in the audit log if there is one. */
function report({ log, audit }: RuntimeParts, change: string, { opened, name, owner, caller }: OwnedAccount): void {
  const title = opened.find(name)?.getTitle({ ...caller, id: owner ?? caller.id }) ?? name;
  log("info", `The account ${title} was ${change} by ${formatCaller(caller)}`);
  const time = new Date().toISOString();
  audit?.writer.add({
    time,
    event: `account ${change}`,
    caller: caller.id,
    method: `account:${name}`,
    owner,
    outcome: "ok",
  });
}
