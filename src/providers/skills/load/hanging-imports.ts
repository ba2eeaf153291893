import { rmSync, statSync, writeFileSync } from "node:fs";

/** Bundles whose import did not finish, remembered across starts. A changed module has another bundle. */
export interface HangingImports {
  has(bundle: string): boolean;
  add(bundle: string): void;
  delete(bundle: string): void;
}

/** After this time an import is tried again at the start: the cause may lie outside of the module. */
const MAX_AGE_MS = 24 * 3_600_000;

/** Remembers each bundle by an empty file beside it, whose name contains the digest of the bundle. */
export const hangingImports: HangingImports = {
  has(bundle) {
    const stats = statSync(markFile(bundle), { throwIfNoEntry: false });
    return stats !== undefined && Date.now() - stats.mtimeMs < MAX_AGE_MS;
  },
  add(bundle) {
    try {
      writeFileSync(markFile(bundle), "", { mode: 0o600 });
    } catch {
      // The disk is full or read-only: the next start tries the import again.
    }
  },
  delete: (bundle) => rmSync(markFile(bundle), { force: true }),
};

function markFile(bundle: string): string {
  return `${bundle}.hangs`;
}
