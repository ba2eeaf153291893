import { join } from "node:path";

import { changeByHand } from "./by-hand.ts";
import type { LoadedConfig } from "./declared-servers.ts";
import { formatPathLabel, readConfigFile } from "./read-file.ts";
import { resolveFolders } from "./locations.ts";
import { changeServers } from "./servers/edit-servers.ts";
import { findServersPath } from "./servers/mcp-file.ts";
import type { DeclaredServer } from "./servers/read-servers.ts";
import { isSelfEntry } from "./servers/self-entry.ts";

/** Finds the servers of the project's `.mcp.json`, which other clients read, too. */
export function findSharedServers({ declared, options }: LoadedConfig): readonly DeclaredServer[] {
  const path = join(resolveFolders(options).cwd, ".mcp.json");
  return declared.filter(({ file, entry }) => file.path === path && !isSelfEntry(entry));
}

/**
 * Moves servers of `.mcp.json` to `mcp.json` beside it, which only Skillgate reads. Returns the label of the new file. Held
 * servers stay held. Throws `CONFIG_INVALID` if a file cannot be read or written.
 */
export async function moveSharedServers(
  servers: readonly DeclaredServer[],
  { options }: Pick<LoadedConfig, "options">,
): Promise<string> {
  const folders = resolveFolders(options);
  const path = join(folders.cwd, "mcp.json");
  const label = formatPathLabel(path, folders);
  const serversPath = findServersPath((await readConfigFile(path, label)) ?? "", label);
  const old = servers.map(({ file }) => file);
  const files = [path, ...old.map((file) => file.path)];
  const approved = servers.filter(({ isHeld }) => !isHeld).map(({ name }) => name);
  await changeByHand(options, { files, servers: approved }, async () => {
    const added = servers.map(({ name, entry }) => ({ path: [...serversPath, name], value: entry }));
    await changeServers({ path, label, isPrivate: false }, added);
    for (const server of servers)
      await changeServers({ ...server.file, isPrivate: false }, [{ path: server.path, value: undefined }]);
  });
  return label;
}
