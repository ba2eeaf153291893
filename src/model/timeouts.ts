/** Time limits, in milliseconds, of work other than runs and calls of methods; a run has its `Limits`. */
export interface Timeouts {
  /** Checking the arguments of one call, and making their schema ready, once. */
  readonly validationMs: number;
  /** One search or description; a client that asks waits as long for servers that still connect. */
  readonly discoveryMs: number;
  /** Waiting for another process that writes to the store; `store vacuum` writes for seconds if the store is large. */
  readonly lockMs: number;
  /** Connecting to an MCP server; listing its tools may take as long again. */
  readonly connectMs: number;
}

export const DEFAULT_TIMEOUTS: Timeouts = Object.freeze({
  validationMs: 5_000,
  discoveryMs: 2_000,
  lockMs: 5_000,
  connectMs: 30_000,
});
