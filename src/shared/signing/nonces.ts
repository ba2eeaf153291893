/** Stores the nonces of accepted signatures. The one below is for one process; a shared store can implement it, too. */
export interface NonceLog {
  /**
   * Stores a nonce until a point in time, in milliseconds since 1970: `used` if it is stored already, `full` if there is no
   * space for it. Atomic. A nonce is never removed before its time, however many come.
   */
  take(nonce: string, times: NonceTimes): NonceAnswer | Promise<NonceAnswer>;
}

export interface NonceTimes {
  /** The last moment at which a signature with the nonce could be accepted. */
  readonly until: number;
  readonly now: number;
}

export type NonceAnswer = "stored" | "used" | "full";

const MAX_NONCES = 100_000;

/** Stores nonces in memory, `maxNonces` at most. */
export function createNonceLog(maxNonces = MAX_NONCES): NonceLog {
  const untilByNonce = new Map<string, number>();
  /** The first moment at which a nonce can be removed. */
  let firstEnd = Infinity;

  function removeEnded(now: number): void {
    // While no nonce has ended, a search would find none: a full log must not make each refusal slow.
    if (now <= firstEnd) return;
    firstEnd = Infinity;
    for (const [nonce, until] of untilByNonce)
      if (until < now) untilByNonce.delete(nonce);
      else firstEnd = Math.min(firstEnd, until);
  }

  return {
    take(nonce, { until, now }) {
      if (untilByNonce.has(nonce)) return "used";
      if (untilByNonce.size >= maxNonces) removeEnded(now);
      if (untilByNonce.size >= maxNonces) return "full";
      untilByNonce.set(nonce, until);
      firstEnd = Math.min(firstEnd, until);
      return "stored";
    },
  };
}
