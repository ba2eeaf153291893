import type { AuditEntry } from "../../../router/index.ts";
import type { Outcome } from "../../../model/outcome.ts";
import type { RunFacts, Runtime } from "../../../runtime.ts";
import type { CallSummary, RunSummary, ServerSummary } from "../messages.ts";

export function summarizeRun(outcome: Outcome, { caller }: RunFacts, time: number): RunSummary {
  const { kind, runId } = outcome;
  const usage = "usage" in outcome ? outcome.usage : undefined;
  return {
    runId,
    caller,
    kind,
    time,
    durationMs: usage?.wallMs ?? 0,
    calls: usage?.calls ?? 0,
    code: findErrorCode(outcome),
  };
}

function findErrorCode(outcome: Outcome): string | null {
  if (outcome.kind === "failed") return outcome.error.code;
  return outcome.kind === "refused" ? (outcome.violations[0]?.code ?? null) : null;
}

export function summarizeCall(entry: AuditEntry): CallSummary {
  const { runId, callId, caller, path, time, durationMs, outcome, code } = entry;
  return { runId, callId, caller, path, time, durationMs, outcome, code: code ?? null };
}

export function summarizeServer({
  name,
  skill,
  status,
  error,
  transport,
  toolCount,
}: Runtime["servers"][number]): ServerSummary {
  return { name, skill, status, error: error ?? null, transport, toolCount };
}
