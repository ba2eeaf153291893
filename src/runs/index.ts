export { type Cassette, createCassette, parseCassette } from "./cassette.ts";
export { type Claims, createClaims } from "./claims.ts";
export type { RunHeader, StoredOutcome } from "./header.ts";
export { type Ledger, type LedgerCall, type LedgerEvent, readLedger } from "./ledger.ts";
export { LiveCall } from "./live-call.ts";
export { isIncomplete, RunRecorder, toRunStatus } from "./recorder.ts";
