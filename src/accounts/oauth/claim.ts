import { type AccountRow, type AccountTable, getProcessName, hasEnded } from "../../store/index.ts";
import { REQUEST_MS } from "./provider-fetch.ts";

/** The claim of a process that may live ends after this time, in which two requests for metadata and one for tokens have ended. */
export const CLAIM_MS = 3 * REQUEST_MS + 10_000;

let claims = 0;

/** Returns the name of a holder of claims: that of this process, of which `hasEnded` can tell, with a number. */
export function createHolder(): string {
  return `${getProcessName()}/${++claims}`;
}

/**
 * Tells when the claim of another process on a connection is over. Clocks of machines differ, so a claim ends when it has been seen
 * unchanged for its whole time, by the clock of this process; at once if its process has certainly ended.
 */
export class ForeignClaim {
  #claim: string | undefined;
  #since = 0;

  /** True if the claim in this row, which was read just now, is over. */
  isOver({ claimedBy, claimedUntil }: Pick<AccountRow, "claimedBy" | "claimedUntil">): boolean {
    if (claimedBy === null || hasEnded(claimedBy)) return true;
    const claim = `${claimedBy} ${claimedUntil}`;
    if (claim !== this.#claim) this.#since = performance.now();
    this.#claim = claim;
    return performance.now() - this.#since > CLAIM_MS;
  }
}

/** Claims a connection whose row was read just now and has no claim that is in force; false if another process was faster. */
export async function claimConnection(table: AccountTable, row: AccountRow, by: string): Promise<boolean> {
  const before = row.claimedUntil ?? 0;
  // A later end than before, also by another clock, so that of two processes that replace a claim only one succeeds.
  const until = Math.max(Date.now() + CLAIM_MS, before + 1);
  return table.claim(row.id, { by, until, now: row.claimedBy === null ? Number.MIN_SAFE_INTEGER : before + 1 });
}
