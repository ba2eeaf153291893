import type { ApprovalWait } from "../../model/approval.ts";
import { isRecord } from "../../model/json.ts";
import type { Problem } from "../../model/provider.ts";
import type { PolicySettings } from "../../policy/index.ts";
import type { ApprovalOptions } from "../options.ts";
import { findProblem } from "./invalid.ts";

/** The time for which a question can be answered. */
export const DEFAULT_EXPIRE_SECONDS = 3_600;
export const MAX_EXPIRE_SECONDS = 30 * 24 * 3_600;

const DESTRUCTIVE_FORM = "approvals.destructive must be allow or ask; destructive methods ask until then";
const EXPIRY_FORM = `approvals.expireSeconds must be a number above 0 and up to ${MAX_EXPIRE_SECONDS}`;

export interface ResolvedApprovals extends Pick<PolicySettings, "asksDestructive"> {
  readonly approvals: { readonly wait: ApprovalWait; readonly expireMs: number };
  readonly problems: readonly Problem[];
}

/** A setting that is not valid must not permit more than was meant. */
export function resolveApprovals(options: ApprovalOptions | undefined, section: unknown): ResolvedApprovals {
  const approvals = mergeApprovals(options, section);
  const asksDestructive = parseDestructive(approvals);
  const expireSeconds = parseExpiry(approvals);
  return {
    asksDestructive: asksDestructive ?? true,
    approvals: {
      wait: options?.wait ?? false,
      expireMs: (expireSeconds ?? DEFAULT_EXPIRE_SECONDS) * 1_000,
    },
    problems: [...findProblem(asksDestructive, DESTRUCTIVE_FORM), ...findProblem(expireSeconds, EXPIRY_FORM)],
  };
}

/** Options replace the members of the section that they name. */
function mergeApprovals(options: ApprovalOptions | undefined, section: unknown): unknown {
  if (options === undefined) return section;
  return section === undefined || section === null || isRecord(section) ? { ...section, ...options } : section;
}

/** `undefined` for a setting that is neither `allow` nor `ask`. */
function parseDestructive(approvals: unknown): boolean | undefined {
  if (approvals === undefined || approvals === null) return false;
  const { destructive = "allow" } = isRecord(approvals) ? approvals : { destructive: approvals };
  return destructive === "ask" ? true : destructive === "allow" ? false : undefined;
}

function parseExpiry(approvals: unknown): number | undefined {
  const { expireSeconds = DEFAULT_EXPIRE_SECONDS } = isRecord(approvals) ? approvals : {};
  const isValid = typeof expireSeconds === "number" && expireSeconds > 0 && expireSeconds <= MAX_EXPIRE_SECONDS;
  return isValid ? expireSeconds : undefined;
}
