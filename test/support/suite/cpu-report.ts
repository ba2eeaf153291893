import { relative } from "node:path";
import type { Reporter } from "vitest/node";

/** The CPU time of one test file. */
export interface FileCpu {
  readonly file: string;
  readonly cpuMs: number;
}

/** CPU seconds that a file may take in `npm test`: twice what the slowest takes, because machines and loads differ. */
const MAX_FILE_S = 20;

/** A run of fewer files is not a run of all tests. */
const MIN_FILES = 100;

const MAX_SHOWN = 10;

/**
 * Reports the test files that took the most CPU time, all of them with `SLOWEST=all`, and fails `npm test` if a file is
 * over the budget. The rest of the tests has no budget.
 */
export function createCpuReporter({ isUsual }: { readonly isUsual: boolean }): Reporter {
  return {
    onTestRunEnd(modules) {
      const files = modules.map((module) => ({
        file: relative(process.cwd(), module.moduleId),
        cpuMs: module.meta().cpuMs ?? 0,
      }));
      const isAll = process.env["SLOWEST"] === "all";
      if (isAll || modules.length >= MIN_FILES)
        process.stdout.write(formatSlowest(files, isAll ? Infinity : MAX_SHOWN));
      const over = isUsual ? findOverBudget(files) : [];
      if (over.length === 0) return;
      process.stdout.write(`\nOver the budget of CPU time (test/support/suite/cpu-report.ts):\n${over.join("\n")}\n`);
      process.exitCode = 1;
    },
  };
}

/** Formats the files that took the most CPU time, the slowest first, and the time of all. */
export function formatSlowest(files: readonly FileCpu[], max: number): string {
  const slowest = files.toSorted((one, other) => other.cpuMs - one.cpuMs).slice(0, max);
  const rows = slowest.map(({ file, cpuMs }) => `${formatSeconds(cpuMs)} s  ${file}\n`);
  const allMs = files.reduce((sum, { cpuMs }) => sum + cpuMs, 0);
  return `\nCPU time of the slowest files:\n${rows.join("")}${formatSeconds(allMs)} s  all ${files.length} files\n`;
}

/** Returns a sentence for each file that is over the budget. */
export function findOverBudget(files: readonly FileCpu[]): readonly string[] {
  return files
    .filter(({ cpuMs }) => cpuMs > MAX_FILE_S * 1_000)
    .map(({ file, cpuMs }) => `${file} took ${(cpuMs / 1_000).toFixed(1)} CPU seconds; its budget is ${MAX_FILE_S}`);
}

const formatSeconds = (ms: number): string => (ms / 1_000).toFixed(1).padStart(7);
