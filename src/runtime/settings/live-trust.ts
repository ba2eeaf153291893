import { readBetweenChanges, whyPartHeld } from "../../config/index.ts";
import type { SkillGate } from "../../model/provider.ts";
import type { RuntimeOptions } from "../options.ts";
import { readOptions } from "./index.ts";
import type { RuntimeSettings } from "./runtime-settings.ts";

/** Reads the files again, as they are now, without a question. */
export function readAgain({ person: _asked, ...options }: RuntimeOptions): Promise<RuntimeSettings> {
  const { cwd = ".", env = process.env } = options;
  return readBetweenChanges({ cwd, env }, () => readOptions(options));
}

/** Says why changed settings must not be used: they came from elsewhere. In a project that was never trusted, they only restrict. */
export function findHeldSettings({ trust }: RuntimeSettings): string | undefined {
  if (trust?.trust.record.isWhole !== true) return undefined;
  return whyPartHeld(trust.trust, "settings.yaml") ?? whyPartHeld(trust.trust, ".env");
}

/** The trust of a project while its runtime lives: changes that come from elsewhere are held also then. */
export interface LiveTrust {
  /** Decides which skills may run. */
  readonly gate: SkillGate;
  /** Says why an MCP server is held, by the settings that were read last. */
  findHeldServer(server: string): string | undefined;
  /** Says why an MCP server must not be started now; `undefined` if it may. */
  whyServerHeld(server: string): Promise<string | undefined>;
  /** Says why a part of the project is held now. */
  whyHeld(part: string): Promise<string | undefined>;
}

/** Servers that start together need one reading of the files. */
const FRESH_MS = 500;

/** Follows the trust of a project from the settings that were read last; `onRead` receives those that are read again. */
export function createLiveTrust(getCurrent: () => RuntimeSettings, read: () => Promise<RuntimeSettings>): LiveTrust {
  let readAt = Date.now();
  let lastReading: Promise<unknown> = Promise.resolve();
  /** Reads the files after each reading in progress, which may have begun before they changed. */
  const refresh = async (maxAgeMs = 0): Promise<RuntimeSettings> => {
    const since = Date.now() - maxAgeMs;
    const next = lastReading.then(async () => {
      if (readAt >= since) return getCurrent();
      const startedAt = Date.now();
      const fresh = await read();
      readAt = startedAt;
      return fresh;
    });
    lastReading = next.catch(() => undefined);
    return next;
  };
  return {
    gate: {
      refresh: async () => void (await refresh()),
      whyHeldIn: (folder) => getCurrent().trust?.trust.whyHeldIn(folder),
      whyHeld: async (digests) => getCurrent().trust?.trust.whyHeld(digests),
    },
    findHeldServer: (server) => getCurrent().trust?.heldServers.get(server),
    async whyServerHeld(server) {
      const why = (await refresh(FRESH_MS)).trust?.heldServers.get(server);
      // Its owner may have allowed it since then.
      return why === undefined ? undefined : (await refresh()).trust?.heldServers.get(server);
    },
    async whyHeld(part) {
      const { trust } = await refresh();
      return trust && whyPartHeld(trust.trust, part);
    },
  };
}
