import { workerData } from "node:worker_threads";

/**
 * Runs beside the skills, so it still runs when one of them never gives back control. It ends the process when the
 * runtime is gone, and when the process uses too much memory: nobody else could, or would notice in time.
 */
const { parent, limitBytes } = workerData as { readonly parent: number; readonly limitBytes: number };
const WATCH_MS = 250;

setInterval(() => {
  const isOrphan = process.ppid !== parent;
  if (isOrphan || process.memoryUsage.rss() > limitBytes) process.kill(process.pid, "SIGKILL");
}, WATCH_MS);
