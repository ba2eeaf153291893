import {
  type ProcessIdentity,
  getProcessIdentity,
  type ProcessRegistry,
  openProcessRegistry,
} from "./process-registry.ts";
import { killGroup } from "./kill-group.ts";

/** Process groups that must not outlive this process, with what is known of their leaders. */
const groups = new Map<number, ProcessIdentity | undefined>();
let registry: ProcessRegistry | undefined;

/**
 * Kills a group when this process exits, unless it was released before. The one end that leaves no time for that is
 * `kill -9`: for it, groups are written down, and killed by the next process that looks.
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
  saveRegistry();
}

function saveRegistry(): void {
  registry ??= openProcessRegistry();
  registry?.write([...groups.values()].filter((leader) => leader !== undefined));
}
