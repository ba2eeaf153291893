import { workerData } from "node:worker_threads";

/**
 * Runs in a thread of its own, so it still runs when a skill blocks the main thread. Kills the process when the runtime
 * has exited, and when the process uses too much memory.
 */
const { parent, limitBytes } = workerData as { readonly parent: number; readonly limitBytes: number };
const WATCH_MS = 250;

setInterval(() => {
  const isOrphan = process.ppid !== parent;
  if (isOrphan || process.memoryUsage.rss() > limitBytes) process.kill(process.pid, "SIGKILL");
}, WATCH_MS);
