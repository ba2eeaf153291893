import { randomBytes } from "node:crypto";
import { hostname } from "node:os";

/** Distinguishes this process from an earlier one with the same number. */
const INSTANCE = randomBytes(6).toString("hex");

/** Identifies this process in records. */
export function getProcessName(): string {
  return `${hostname()}/${process.pid}/${INSTANCE}`;
}

/** True if a process has certainly ended: it ran on this machine, and its number is free or belongs to this process. */
export function hasEnded(processName: string): boolean {
  const [host, pid, instance] = processName.split("/");
  if (host !== hostname()) return false;
  if (Number(pid) === process.pid) return instance !== INSTANCE;
  try {
    process.kill(Number(pid), 0);
    return false;
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === "ESRCH";
  }
}
