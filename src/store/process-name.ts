import { hash, randomBytes } from "node:crypto";
import { readFileSync, readlinkSync } from "node:fs";
import { hostname } from "node:os";

/** Distinguishes this process from an earlier one with the same number. */
const INSTANCE = randomBytes(6).toString("hex");

/** Identifies this process in records: `host/number/instance/space`. */
export function getProcessName(): string {
  return `${hostname()}/${process.pid}/${INSTANCE}/${getSpace()}`;
}

/**
 * True if a process has certainly ended: its number counts here, and is free or belongs to this process. Otherwise it may
 * live, also if its host has this name: containers and machines can share a name.
 */
export function hasEnded(processName: string): boolean {
  const [host, pid, instance, space] = processName.split("/");
  if (host !== hostname() || space !== getSpace() || space === UNKNOWN_SPACE) return false;
  if (Number(pid) === process.pid) return instance !== INSTANCE;
  try {
    process.kill(Number(pid), 0);
    return false;
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === "ESRCH";
  }
}

/** The space of a process that cannot find out in which one it is. */
const UNKNOWN_SPACE = "unknown";

let space: string | undefined;

/**
 * Identifies the start of the system and the process name space, in which numbers of processes count. Only Linux has name
 * spaces; elsewhere the name of the host stands for both.
 */
function getSpace(): string {
  space ??= process.platform === "linux" ? readSpace() : process.platform;
  return space;
}

function readSpace(): string {
  try {
    const boot = readFileSync("/proc/sys/kernel/random/boot_id", "utf8").trim();
    return hash("sha256", `${boot} ${readlinkSync("/proc/self/ns/pid")}`).slice(0, 12);
  } catch {
    return UNKNOWN_SPACE; // without /proc, only the counter of a process shows whether it lives
  }
}
