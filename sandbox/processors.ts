import { readFileSync } from "node:fs";
import { availableParallelism } from "node:os";

/** Limit of a control group on processor time: microseconds, or "max", in each period of that many microseconds. */
const CPU_LIMIT_FILE = "/sys/fs/cgroup/cpu.max";

/** Returns how many processors a process may use, given the processors that it may run on and the text of `CPU_LIMIT_FILE`. */
export function countProcessors(available: number, cpuLimit: string): number {
  const [quota = NaN, period = NaN] = cpuLimit.split(" ").map(Number);
  return quota > 0 && period > 0 ? Math.min(available, quota / period) : available;
}

let processors: number | undefined;

/** Returns how many processors this process may use; a limit of its control group may be a fraction. */
export function getProcessors(): number {
  return (processors ??= countProcessors(availableParallelism(), readCpuLimit()));
}

/** False with less than two processors: a thread that polls there keeps the thread it waits for from its work. */
export function canSpin(): boolean {
  return getProcessors() >= 2;
}

/** The number of threads that compute at the same time: one processor is left to the host, and the host feeds at most four. */
export function countWorkers(available: number): number {
  return Math.max(1, Math.min(4, Math.floor(available) - 1));
}

function readCpuLimit(): string {
  try {
    return readFileSync(CPU_LIMIT_FILE, "utf8");
  } catch {
    return ""; // not Linux, or no limit
  }
}
