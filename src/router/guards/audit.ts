import { createError, type ErrorCode, ERRORS, SkillgateError } from "../../errors.ts";
import type { AuditRecord, AuditWriter } from "../../store/index.ts";
import type { Guard, GuardedCall } from "../call.ts";
import type { AuditEntry } from "../audit-log.ts";
import { getDecidedPath } from "../query-parts.ts";

/** The fields of an entry that depend on how the call ended. */
type CallEnding = Pick<AuditEntry, "decision" | "outcome" | "cached" | "code">;

export interface AuditOptions {
  /** Receives each entry. */
  readonly record: (entry: AuditEntry) => void;
  /** Stores each entry. */
  readonly writer: AuditWriter | undefined;
  readonly now: () => number;
}

/** Records every call, including refused ones, when it has ended. Refuses calls while records cannot be stored. */
export function audit({ record, writer, now }: AuditOptions): Guard {
  return (next) => async (call) => {
    const time = now();
    const started = performance.now();
    const end = (how: CallEnding): void => {
      const entry = createEntry(call, time, performance.now() - started, how);
      record(entry);
      if (writer !== undefined && entry.code !== "AUDIT_FAILED") addEnd(writer, entry, call);
      call.onEnded(entry);
    };
    try {
      if (writer?.isReady === false) await requireCommit(writer);
      const answer = await next(call);
      end({ decision: "allowed", outcome: "ok", cached: answer.cached });
      return answer;
    } catch (error) {
      end(endBy(error));
      throw error;
    }
  };
}

/** The outcome of a call that has made an effect waits for its record; that of any other does not. */
function addEnd(writer: AuditWriter, entry: AuditEntry, { method }: GuardedCall): void {
  const hasNoEffect = method.metadata.readOnly || entry.cached || entry.decision === "refused";
  if (hasNoEffect) writer.add(toRecord(entry));
  else writer.addEffect(toRecord(entry));
}

/**
 * Returns the function that stores the decision to make a call, just before it is made. A destructive call waits until the
 * decision is committed.
 */
export function recordDecision(
  now: () => number,
  writer: AuditWriter | undefined,
): (call: GuardedCall) => Promise<void> | undefined {
  if (writer === undefined) return () => undefined;
  return (call) => {
    const { runId, id: callId, caller, method, rule } = call;
    const accounts = listTitles(call);
    // In the order of the canonical JSON, which makes writing it faster.
    const record = {
      ...(accounts.length > 0 && { accounts }),
      argumentsDigest: call.argumentsDigest(),
      callId,
      caller: caller.id,
      decision: "allowed",
      event: "decision",
      method: getDecidedPath(call),
      ...(rule.row !== undefined && { policyRow: rule.row }),
      runId,
      time: new Date(now()).toISOString(),
    };
    if (method.metadata.readOnly) writer.add(record);
    else writer.addEffect(record);
    return method.metadata.destructive ? requireCommit(writer, record) : undefined;
  };
}

/** Throws `AUDIT_FAILED` if the records so far cannot be committed; then `record` must not be committed later. */
async function requireCommit(writer: AuditWriter, record?: AuditRecord): Promise<void> {
  try {
    await writer.flush();
  } catch (error) {
    if (record !== undefined) writer.remove(record);
    throw createError("AUDIT_FAILED", getReason(error), {}, { cause: error });
  }
}

/** A guest reads the kind of a failure of the store, but not its place. */
function getReason(error: unknown): string {
  return error instanceof SkillgateError ? ERRORS[error.code].says : "the store does not work";
}

/** Converts an entry to a record: a refusal is a decision, anything else the end of a call. */
function toRecord(entry: AuditEntry): AuditRecord {
  const {
    accounts,
    argumentsDigest,
    attempts,
    cached,
    callId,
    caller,
    code,
    decision,
    durationMs,
    path,
    origins,
    outcome,
  } = entry;
  const isRefused = decision === "refused";
  return {
    ...(accounts !== undefined && { accounts }),
    argumentsDigest,
    ...(attempts !== undefined && { attempts }),
    cached,
    callId,
    caller,
    ...(code !== undefined && { code }),
    decision,
    durationMs: Math.round(durationMs * 1_000) / 1_000,
    event: isRefused ? "decision" : "end",
    method: path,
    ...(origins !== undefined && { origins }),
    outcome,
    ...(entry.policyRow !== undefined && { policyRow: entry.policyRow }),
    runId: entry.runId,
    time: new Date(isRefused ? entry.time : entry.time + durationMs).toISOString(),
  };
}

function createEntry(call: GuardedCall, time: number, durationMs: number, how: CallEnding): AuditEntry {
  const origins = call.origins();
  const accounts = listTitles(call);
  return Object.freeze({
    time,
    runId: call.runId,
    callId: call.id,
    caller: call.caller.id,
    path: getDecidedPath(call),
    argumentsDigest: call.argumentsDigest(),
    durationMs,
    ...(origins.length > 0 && { origins: origins.map(({ argument, from }) => ({ argument, from })) }),
    ...(accounts.length > 0 && { accounts }),
    ...(call.rule.row !== undefined && { policyRow: call.rule.row }),
    ...(call.attempts.count > 1 && { attempts: call.attempts.count }),
    ...how,
  });
}

/** Returns the titles of the accounts of a call; none if it was refused because one is missing. */
function listTitles({ accounts }: GuardedCall): readonly string[] {
  try {
    return accounts().map(({ title }) => title);
  } catch {
    return [];
  }
}

function endBy(error: unknown): CallEnding {
  const code = error instanceof SkillgateError ? error.code : "CALL_FAILED";
  if (isRefusal(error)) return { decision: "refused", outcome: "refused", cached: false, code };
  return { decision: "allowed", outcome: code === "CALL_CANCELLED" ? "unfinished" : "error", cached: false, code };
}

/** True if a guard of this machine refused the call. What another machine says of a call that was made there is not checked. */
export function isRefusal(error: unknown): error is SkillgateError {
  if (!(error instanceof SkillgateError) || error.facts["device"] !== undefined) return false;
  return REFUSALS.has(error.code) || ofGuards.has(error);
}

/** Errors of guards with codes that a call can end with, too. */
const ofGuards = new WeakSet<SkillgateError>();

/** Notes that a guard refuses a call with an error, before anything was done. */
export function markRefusal(error: SkillgateError): SkillgateError {
  ofGuards.add(error);
  return error;
}

/** Codes with which guards refuse a call. */
const REFUSALS: ReadonlySet<ErrorCode> = new Set([
  "PERMISSION_MISSING",
  "POLICY_DENIED",
  "ACCOUNT_MISSING",
  "AUDIT_FAILED",
  "SKILL_DISABLED",
  "APPROVAL_MISSING",
  "APPROVAL_EXPIRED",
  "COOLDOWN",
  "RATE_LIMIT",
  "ARGUMENTS_INVALID",
  "QUERY_INVALID",
  "QUERY_UNCHECKED",
  "VALIDATION_TIMEOUT",
]);
