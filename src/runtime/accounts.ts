import type { AccountDefinition, Accounts, EndedConnection } from "../accounts/index.ts";
import type { Account, UsableAccounts } from "../model/account.ts";
import type { KnownSecrets } from "../shared/secrets.ts";
import type { LazyDatabase } from "../store/index.ts";
import type { RuntimeSettings } from "./settings/runtime-settings.ts";

/** The accounts of a runtime. A runtime without accounts loads no module of them. */
export interface RuntimeAccounts extends UsableAccounts {
  /** Loads the accounts, which `find` finds from then on. */
  open(): Promise<Accounts>;
  /** The accounts of the settings that are in force. */
  readonly definitions: readonly AccountDefinition[];
  /** Takes changed settings. */
  replace(definitions: readonly AccountDefinition[]): void;
  /** Names links of a server at this address, in place of commands, to callers that must connect an account. */
  linkTo(baseUrl: string): void;
  /** Calls back when a connection cannot be used any more. Returns a function that removes the listener. */
  onEnd(listener: (ended: EndedConnection) => void): () => void;
  close(): void;
}

interface AccountParts {
  readonly settings: Pick<RuntimeSettings, "accounts" | "accountKeys" | "timeouts">;
  readonly database: LazyDatabase;
  readonly secrets: KnownSecrets;
  /** Gets each connection that this process has found to be over: its owner must connect it again. */
  readonly onReconnect: (connection: EndedConnection) => void;
}

/** Creates the accounts of a runtime; opens nothing before it is needed. */
export function createRuntimeAccounts({ settings, database, secrets, onReconnect }: AccountParts): RuntimeAccounts {
  const listeners = new Set<(ended: EndedConnection) => void>();
  let definitions = settings.accounts;
  let baseUrl: string | undefined;
  let opening: Promise<Accounts> | undefined;
  let opened: Accounts | undefined;

  async function load(): Promise<Accounts> {
    const { createAccounts, createKeySource, describeConnect } = await import("../accounts/index.ts");
    const onSecrets = (values: readonly string[]): void => secrets.add(values);
    opened = createAccounts({
      definitions,
      database,
      secrets,
      keys: createKeySource({ ...settings.accountKeys, lockMs: settings.timeouts.lockMs, onSecrets }),
      onReconnect,
      describeConnect: (caller, definition) => describeConnect(caller, definition, baseUrl),
    });
    opened.onEnd((ended) => listeners.forEach((listener) => listener(ended)));
    return opened;
  }

  const open = (): Promise<Accounts> => (opening ??= load());
  return {
    open,
    find: (name): Account | undefined => opened?.find(name),
    async refresh() {
      if (definitions.length > 0 || opened !== undefined) await (await open()).refresh();
    },
    get definitions() {
      return definitions;
    },
    replace(fresh) {
      definitions = fresh;
      opened?.replace(fresh);
    },
    linkTo(url) {
      baseUrl = url;
    },
    onEnd(listener) {
      listeners.add(listener);
      return () => void listeners.delete(listener);
    },
    close: () => opened?.close(),
  };
}
