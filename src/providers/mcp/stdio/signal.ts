/** Sends a signal to every process of a group, 0 to only ask; false if nobody is left in it. */
export function signalGroup(group: number, signal: NodeJS.Signals | 0): boolean {
  try {
    // Windows knows no groups: there, only the process itself is reached.
    return process.kill(process.platform === "win32" ? group : -group, signal);
  } catch {
    return false; // nobody of that group is left, or nobody that is ours
  }
}
