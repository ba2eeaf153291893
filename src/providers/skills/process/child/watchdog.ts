import { writeSync } from "node:fs";
import { workerData } from "node:worker_threads";

/**
 * Runs in a thread of its own, so it still runs when a skill blocks the main thread. Kills the process when the runtime
 * has exited, and when the process uses too much memory.
 */
const { parent, limitBytes, excess } = workerData as WatchdogData;
const WATCH_MS = 250;
const STDERR = 2;

setInterval(() => {
  const isOrphan = process.ppid !== parent;
  if (!isOrphan && process.memoryUsage.rss() <= limitBytes) return;
  try {
    if (!isOrphan) writeSync(STDERR, `${excess}\n`);
  } finally {
    process.kill(process.pid, "SIGKILL");
  }
}, WATCH_MS);

interface WatchdogData {
  readonly parent: number;
  readonly limitBytes: number;
  /** The reason that the runtime reads. */
  readonly excess: string;
}
