import { type Leader, leaderOf, type Ledger, openLedger } from "./ledger.ts";
import { signalGroup } from "./signal.ts";

/** Process groups that must not outlive this process, with what is known of their leaders. */
const groups = new Map<number, Leader | undefined>();
let ledger: Ledger | undefined;

/**
 * Kills a group when this process exits, unless it was released before. The one end that leaves no time for that is
 * `kill -9`: for it, groups are written down, and killed by the next process that looks.
 */
export function killAtExit(group: number): () => void {
  if (groups.size === 0) process.on("exit", killAll);
  groups.set(group, leaderOf(group));
  writeDown();
  return () => {
    groups.delete(group);
    writeDown();
    if (groups.size === 0) process.off("exit", killAll);
  };
}

function killAll(): void {
  for (const group of groups.keys()) signalGroup(group, "SIGKILL");
  groups.clear();
  writeDown();
}

function writeDown(): void {
  ledger ??= openLedger();
  ledger?.write([...groups.values()].filter((leader) => leader !== undefined));
}
