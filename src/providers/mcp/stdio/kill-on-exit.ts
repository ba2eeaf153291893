import { killGroup } from "./kill-group.ts";
import { getProcessIdentity, type ProcessIdentity } from "./process-identity.ts";
import { getMarkPrefix, killMarkedProcesses } from "./process-mark.ts";
import { openProcessRegistry, type ProcessRegistry } from "./process-registry.ts";

/** Process groups that must not outlive this process, with the identities of their leaders. */
const groups = new Map<number, ProcessIdentity | undefined>();
let registry: ProcessRegistry | undefined;

/**
 * Kills a group when this process exits, unless it was released before. `kill -9` leaves no time for that, so the groups
 * are also recorded in a file, and the next process kills them.
 */
export function killOnExit(group: number): () => void {
  if (groups.size === 0) process.on("exit", killAll);
  groups.set(group, getProcessIdentity(group));
  saveRegistry();
  return () => {
    groups.delete(group);
    saveRegistry();
    if (groups.size === 0) process.off("exit", killAll);
  };
}

function killAll(): void {
  for (const group of groups.keys()) killGroup(group, "SIGKILL");
  groups.clear();
  const self = getProcessIdentity(process.pid);
  if (self !== undefined) killMarkedProcesses(getMarkPrefix(self));
  saveRegistry();
}

function saveRegistry(): void {
  registry ??= openProcessRegistry();
  registry?.write([...groups.values()].filter((leader) => leader !== undefined));
}
