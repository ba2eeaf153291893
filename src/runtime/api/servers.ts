import { findServerSecrets } from "../../config/index.ts";
import { OWNER } from "../../model/caller.ts";
import type { Runtime } from "../../runtime.ts";
import { readOptions } from "../settings/index.ts";
import type { RuntimeParts } from "./parts.ts";

/** Creates the methods of a runtime that administer its providers. */
export function createServerAdmin(
  parts: RuntimeParts,
): Pick<Runtime, "acceptTools" | "listServersWith" | "reloadServers" | "reloadSkills"> {
  const { options, settings, providers, secrets, onReload } = parts;
  return {
    listServersWith: ({ caller = OWNER, ...asker }) =>
      asker.requestValues === undefined && asker.client === undefined
        ? undefined
        : providers.listWith({ caller, ...asker }),
    acceptTools: (server) => providers.accept(server),
    reloadSkills: () => providers.reloadSkills(),
    async reloadServers() {
      // A project that was trusted at the start stays trusted until the end.
      const { person: _asked, ...unasked } = options;
      const fresh = await readOptions({ ...unasked, trust: settings.isTrusted ? "given" : "recorded" });
      const servers = await fresh.servers();
      secrets.add([...fresh.secretValues, ...servers.flatMap(findServerSecrets)]);
      onReload(fresh);
      await providers.replaceServers(servers);
    },
  };
}
