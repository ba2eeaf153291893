import { isRecord } from "../../../model/json.ts";
import type { Space } from "../../../store/index.ts";

/** How often a saved skill has passed, since its file was changed. */
export interface SavedCounts {
  readonly passes: number;
  /** Failures since the last pass. */
  readonly failures: number;
  /** Why it failed last; empty if it did not. */
  readonly why: string;
}

export const NO_COUNTS: SavedCounts = { passes: 0, failures: 0, why: "" };

/** A saved skill that has failed so often in succession is not used. */
export const MAX_FAILURES = 2;

const MAX_REASON_UNITS = 500;

/** Returns the counts of a file by its name and the SHA-256 digest of its bytes. Those of another content do not count. */
export async function readCounts(space: Space, file: string, digest: string): Promise<SavedCounts> {
  return parseCounts(await space.get(file), digest);
}

/** Counts a pass or a failure, and returns the counts after it. */
export async function addCount(
  space: Space,
  { file, digest }: { readonly file: string; readonly digest: string },
  failure: string | undefined,
): Promise<SavedCounts> {
  let counts = NO_COUNTS;
  await space.update(file, (stored) => {
    const { passes, failures } = parseCounts(stored, digest);
    counts =
      failure === undefined
        ? { passes: passes + 1, failures: 0, why: "" }
        : { passes, failures: failures + 1, why: failure.slice(0, MAX_REASON_UNITS) };
    return { digest, ...counts };
  });
  return counts;
}

/** Parses stored counts, which another version may have written, or which may be missing. */
function parseCounts(stored: unknown, digest: string): SavedCounts {
  if (!isRecord(stored) || stored["digest"] !== digest) return NO_COUNTS;
  const { passes, failures, why } = stored;
  return { passes: toCount(passes), failures: toCount(failures), why: typeof why === "string" ? why : "" };
}

function toCount(value: unknown): number {
  return typeof value === "number" && Number.isSafeInteger(value) && value > 0 ? value : 0;
}
