import { SkillgateError, type ErrorCode } from "../../errors.ts";
import type { Guard, GuardedCall } from "../call.ts";
import type { AuditEntry } from "../audit-log.ts";

/** The fields of an entry that depend on how the call ended. */
type CallEnding = Pick<AuditEntry, "decision" | "outcome" | "cached" | "code">;

/** Records every call, including refused ones, when it has ended. */
export function audit(record: (entry: AuditEntry) => void, now: () => number): Guard {
  return (next) => async (call) => {
    const time = now();
    const started = performance.now();
    const end = (how: CallEnding): void => {
      const entry = createEntry(call, time, performance.now() - started, how);
      record(entry);
      call.onEnded(entry);
    };
    try {
      const answer = await next(call);
      end({ decision: "allowed", outcome: "ok", cached: answer.cached });
      return answer;
    } catch (error) {
      end(endBy(error instanceof SkillgateError ? error.code : "CALL_FAILED"));
      throw error;
    }
  };
}

function createEntry(call: GuardedCall, time: number, durationMs: number, how: CallEnding): AuditEntry {
  const origins = call.origins();
  return Object.freeze({
    time,
    runId: call.runId,
    callId: call.id,
    caller: call.caller.id,
    path: call.method.path,
    argumentsDigest: call.argumentsDigest(),
    durationMs,
    ...(origins.length > 0 && { origins: origins.map(({ argument, from }) => ({ argument, from })) }),
    ...(call.rule.row !== undefined && { policyRow: call.rule.row }),
    ...how,
  });
}

function endBy(code: ErrorCode): CallEnding {
  if (REFUSALS.has(code)) return { decision: "refused", outcome: "refused", cached: false, code };
  return { decision: "allowed", outcome: code === "CALL_CANCELLED" ? "unfinished" : "error", cached: false, code };
}

/** Codes with which the other guards refuse a call. */
const REFUSALS: ReadonlySet<ErrorCode> = new Set([
  "PERMISSION_MISSING",
  "POLICY_DENIED",
  "SKILL_DISABLED",
  "APPROVAL_MISSING",
  "APPROVAL_EXPIRED",
  "COOLDOWN",
  "RATE_LIMIT",
  "ARGUMENTS_INVALID",
  "VALIDATION_TIMEOUT",
]);
