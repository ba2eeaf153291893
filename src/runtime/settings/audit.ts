import { isRecord } from "../../model/json.ts";
import type { Problem } from "../../model/provider.ts";
import { findProblem } from "./invalid.ts";
import type { RuntimeSettings } from "./runtime-settings.ts";

/** The settings of the audit log, and what is wrong with them. */
export interface AuditSettings extends Pick<RuntimeSettings, "audit" | "retention"> {
  readonly problems: readonly Problem[];
}

/** Parses `audit` and `store.keep`; a value that is not valid keeps its default. `option` replaces the setting `audit`. */
export function parseAuditSettings(
  { audit, store }: Readonly<Record<string, unknown>>,
  option: RuntimeSettings["audit"],
): AuditSettings {
  const retention = parseRetention(store);
  const state = audit === false ? "off" : audit;
  const isValid = state === undefined || state === "off" || state === "store";
  return {
    audit: option ?? (isValid ? state : undefined),
    retention: retention ?? {},
    problems: [...(isValid ? [] : findProblem(undefined, AUDIT_FORM)), ...findProblem(retention, RETENTION_FORM)],
  };
}

const AUDIT_FORM = "audit must be off or store";
const RETENTION_FORM = "store.keep must have auditDays, approvalDays and runDays, whole numbers of days from 1";

/** Returns `undefined` if the section is not valid. */
function parseRetention(store: unknown): RuntimeSettings["retention"] | undefined {
  const keep = isRecord(store) ? (store["keep"] ?? {}) : {};
  if (!isRecord(keep)) return undefined;
  const { auditDays, approvalDays, runDays, ...others } = keep;
  if (Object.keys(others).length > 0 || ![auditDays, approvalDays, runDays].every(isDays)) return undefined;
  return {
    ...(isNumber(auditDays) && { auditDays }),
    ...(isNumber(approvalDays) && { approvalDays }),
    ...(isNumber(runDays) && { runDays }),
  };
}

const isNumber = (value: unknown): value is number => typeof value === "number";

/** True also for an absent setting. */
function isDays(value: unknown): boolean {
  return value === undefined || (isNumber(value) && Number.isInteger(value) && value >= 1);
}
