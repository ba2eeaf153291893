import { spawnSync } from "node:child_process";

export const IS_WINDOWS = process.platform === "win32";

/** Sends a signal to every process of a group, 0 to only ask; false if nobody is left in it. */
export function killGroup(group: number, signal: NodeJS.Signals | 0): boolean {
  if (IS_WINDOWS && signal !== 0) return endTree(group);
  try {
    return process.kill(IS_WINDOWS ? group : -group, signal);
  } catch {
    return false; // nobody of that group is left, or nobody that is ours
  }
}

/** Windows knows neither groups nor signals: a process is ended, with all that it has started. */
function endTree(pid: number): boolean {
  return spawnSync("taskkill", ["/pid", String(pid), "/T", "/F"], { windowsHide: true }).status === 0;
}
