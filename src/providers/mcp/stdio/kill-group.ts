import { spawnSync } from "node:child_process";

export const IS_WINDOWS = process.platform === "win32";

/** Sends a signal to every process of a group, or checks it with 0; false if the group has no process left. */
export function killGroup(group: number, signal: NodeJS.Signals | 0): boolean {
  if (IS_WINDOWS && signal !== 0) return endTree(group);
  try {
    return process.kill(IS_WINDOWS ? group : -group, signal);
  } catch {
    return false; // the group has no process left, or none of this user
  }
}

/** Windows has neither groups nor signals: ends a process and its descendants. */
function endTree(pid: number): boolean {
  return spawnSync("taskkill", ["/pid", String(pid), "/T", "/F"], { windowsHide: true }).status === 0;
}
