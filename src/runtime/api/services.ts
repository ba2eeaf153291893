import { type ApprovalDecisions, createApprovalDecisions } from "../../approvals/index.ts";
import type { RuntimeServices } from "../services.ts";
import type { RuntimeParts } from "./parts.ts";

/** Creates the part of a runtime that asks people whether calls may be made. */
export function createDecisions(parts: RuntimeParts): ApprovalDecisions {
  const { options, settings, policy, trust, database, events, log } = parts;
  const { approvedFile, ...times } = settings.approvals;
  return createApprovalDecisions({
    ...times,
    open: () => database.open(),
    ...(options.approve !== undefined && { ask: options.approve }),
    getApprovedFile: () => (policy.current.content.onlyTightens ? undefined : approvedFile),
    whyRowsHeld: () => trust.whyHeld("policies/approved.yaml"),
    onQuestion: (approval) => events.emit("approval", approval),
    warn: (text) => log("warn", text),
  });
}

/** Leaves the runs that wait to other processes, and ends everything else. */
export async function closeServices(
  { accounts, alerts, providers, statistics, audit, retention, store, database, executors, fronts }: RuntimeParts,
  services: RuntimeServices,
  decisions: ApprovalDecisions,
): Promise<void> {
  services.observations.close();
  await Promise.all([executors?.close(), fronts.served?.close()]);
  await services.records.close();
  await Promise.all([
    services.sandbox.close(),
    services.nestedSandboxes.close(),
    services.typecheck?.close(),
    providers.close(),
  ]);
  await Promise.all([
    statistics.close(),
    decisions.close(),
    audit?.close(),
    alerts.close(),
    retention.close(),
    services.records.flush(),
  ]);
  await store.close();
  accounts.close();
  await database.close();
}
