export { type Cassette, type CassetteSkill, createCassette, parseCassette, RECOMPILABLE_FORMAT } from "./cassette.ts";
export { type Claims, createClaims } from "./claims.ts";
export { Continuation, type ContinueAnswers, type ContinueDecision } from "./continuation.ts";
export type { RunHeader, StoredOutcome } from "./header.ts";
export { createHistory, getPastEnd, type History, type PastCall } from "./history.ts";
export { type Ledger, type LedgerCall, readLedger, toRecordedArguments } from "./ledger.ts";
export { LiveCall } from "./live-call.ts";
export { isIncomplete, RunRecorder, toRunStatus } from "./recorder.ts";
