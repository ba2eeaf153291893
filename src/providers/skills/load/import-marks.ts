import { rmSync, statSync, writeFileSync } from "node:fs";

/** Bundles of which something is known about their import, remembered across starts. A changed module has another bundle. */
export interface ImportMarks {
  has(bundle: string): boolean;
  add(bundle: string): void;
  delete(bundle: string): void;
}

/** After this time an import is tried again as any other: the cause may lie outside of the module. */
const MAX_AGE_MS = 24 * 3_600_000;

/** Bundles whose import did not finish. */
export const hangingImports = createMarks("hangs");

/** Bundles whose import took long beside those of others. */
export const slowImports = createMarks("slow");

/** Remembers each bundle by an empty file beside it, whose name contains the digest of the bundle. */
function createMarks(ending: string): ImportMarks {
  const getFile = (bundle: string): string => `${bundle}.${ending}`;
  return {
    has(bundle) {
      const stats = statSync(getFile(bundle), { throwIfNoEntry: false });
      return stats !== undefined && Date.now() - stats.mtimeMs < MAX_AGE_MS;
    },
    add(bundle) {
      try {
        writeFileSync(getFile(bundle), "", { mode: 0o600 });
      } catch {
        // The disk is full or read-only: the next start tries the import again.
      }
    },
    delete: (bundle) => rmSync(getFile(bundle), { force: true }),
  };
}
