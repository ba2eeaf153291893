// Measures the CPU time of each test file, with that of the processes that it started and that have ended.

import { readFileSync } from "node:fs";
import { afterAll } from "vitest";

declare module "vitest" {
  interface TaskMeta {
    /** CPU time of a file, in milliseconds. */
    cpuMs?: number;
  }
}

/** The CPU time of a process before its first file belongs to that file; its later files begin with what it had then. */
const counted = globalThis as { skillgateCountedCpuMs?: number };
const before = counted.skillgateCountedCpuMs ?? 0;

// oxlint-disable-next-line no-empty-pattern -- vitest accepts only a pattern as the first parameter
afterAll(({}, { file }) => {
  const now = readCpuMs();
  counted.skillgateCountedCpuMs = now;
  file.meta.cpuMs = now - before;
});

/** Linux counts the ended processes of a process, in ticks of 10 ms; elsewhere, only the process itself is counted. */
function readCpuMs(): number {
  if (process.platform !== "linux") return Object.values(process.cpuUsage()).reduce((sum, us) => sum + us / 1_000, 0);
  const text = readFileSync("/proc/self/stat", "utf8");
  const [user = 0, system = 0, children = 0, systemOfChildren = 0] = text
    .slice(text.lastIndexOf(")") + 2)
    .split(" ")
    .slice(11, 15)
    .map(Number);
  return (user + system + children + systemOfChildren) * 10;
}
