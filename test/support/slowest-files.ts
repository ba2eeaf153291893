import { relative } from "node:path";
import type { Reporter } from "vitest/node";

/** The duration of one test file. */
export interface FileDuration {
  readonly file: string;
  readonly durationMs: number;
}

/** A run of fewer files is not a run of all tests. */
const MIN_FILES = 100;

const MAX_SHOWN = 10;

/** Says at the start of a run of all tests how long it takes, and at its end which files took the most time. */
export const slowestFiles: Reporter = {
  onTestRunStart(specifications) {
    if (specifications.length < MIN_FILES) return;
    process.stdout.write(`${specifications.length} files; on two cores they take 15 to 20 minutes\n`);
  },
  onTestRunEnd(modules) {
    if (modules.length < MIN_FILES) return;
    const files = modules.map((module) => ({
      file: relative(process.cwd(), module.moduleId),
      durationMs: module.diagnostic().duration,
    }));
    process.stdout.write(formatSlowest(files));
  },
};

/** Formats the ten slowest files, the slowest first. */
export function formatSlowest(files: readonly FileDuration[]): string {
  const slowest = files.toSorted((one, other) => other.durationMs - one.durationMs).slice(0, MAX_SHOWN);
  const rows = slowest.map(({ file, durationMs }) => `${(durationMs / 1_000).toFixed(1).padStart(7)} s  ${file}\n`);
  return `\nThe slowest files:\n${rows.join("")}`;
}
