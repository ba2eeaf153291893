import type { ServerLogins } from "../../accounts/index.ts";
import type { TokenStore } from "../../model/account.ts";
import type { KnownSecrets } from "../../shared/secrets.ts";
import type { LazyDatabase } from "../../store/index.ts";
import type { RuntimeSettings } from "../settings/runtime-settings.ts";

/** The logins at MCP servers of a runtime. A runtime without remote servers loads no module of them. */
export interface RuntimeLogins {
  readonly tokens: TokenStore;
  /** Loads the logins. */
  open(): Promise<ServerLogins>;
}

interface LoginParts {
  readonly settings: Pick<RuntimeSettings, "accountKeys" | "serverUse" | "timeouts">;
  readonly database: Pick<LazyDatabase, "open">;
  readonly secrets: KnownSecrets;
}

/**
 * Finds the logins in the store, if it is at a URL, else in the folder for MCP servers, which all projects of a user share: the folder
 * has their key, too, because each project may name another one. `undefined` for a runtime whose logins end with it.
 */
export function createRuntimeLogins({ settings, database, secrets }: LoginParts): RuntimeLogins | undefined {
  const { accountKeys, timeouts, serverUse } = settings;
  const { stateDir: folder } = serverUse;
  if (accountKeys.store !== "url" && folder === undefined) return undefined;

  async function load(): Promise<ServerLogins> {
    const { createKeySource, createServerLogins } = await import("../../accounts/index.ts");
    const onSecrets = (values: readonly string[]): void => secrets.add(values);
    const common = { ...accountKeys, lockMs: timeouts.lockMs, onSecrets };
    if (accountKeys.store === "url" || folder === undefined)
      return createServerLogins({ database, ...(folder !== undefined && { folder }) }, createKeySource(common));
    const keys = createKeySource({ ...common, store: "folder", folder, readSetting: undefined });
    return createServerLogins({ folder }, keys);
  }

  let opening: Promise<ServerLogins> | undefined;
  const open = (): Promise<ServerLogins> => (opening ??= load());
  return {
    open,
    tokens: {
      get: async (key) => (await open()).tokens.get(key),
      set: async (key, value) => (await open()).tokens.set(key, value),
      delete: async (key) => (await open()).tokens.delete(key),
      exclusively: async (key, work) => (await open()).tokens.exclusively(key, work),
    },
  };
}
