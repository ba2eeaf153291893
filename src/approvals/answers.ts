import { sentence, SkillgateError } from "../errors.ts";
import type { ApprovalScope } from "../model/approval.ts";
import { type Caller, OWNER } from "../model/caller.ts";
import { describeUnknownName } from "../shared/suggest.ts";
import { type ApprovalRow, type ApprovalState, type Database, hasEnded } from "../store/index.ts";
import { formatCard } from "./card.ts";
import { getReadableRow, getReadableRows } from "./readable-rows.ts";

/** A question and its answer, for people and programs. */
export interface Approval extends Omit<ApprovalRow, "waiter"> {
  /** True if a call waits for the answer; otherwise a yes counts for the next call with the same arguments. */
  readonly isWaiting: boolean;
  /** The question as text. */
  readonly card: string;
}

/** An answer, and the person who gives it. */
export interface GivenAnswer {
  readonly approve: boolean;
  /** The calls that a yes covers; `once` by default. */
  readonly scope?: ApprovalScope;
  /** Id of the caller who answers; the owner by default. */
  readonly by?: string;
  /** True by default. */
  readonly isAdmin?: boolean;
  /** A caller for whom questions about methods that it may not read do not exist. */
  readonly viewer?: Caller;
}

/** Questions whether a call may be made, and their answers. */
export interface Approvals {
  /** The oldest first. A `viewer` sees those of methods that it may read, without other methods in plan and provenance. */
  list(state?: ApprovalState, viewer?: Caller): Promise<readonly Approval[]>;
  get(id: string, viewer?: Caller): Promise<Approval | undefined>;
  /**
   * Answers a question. Rejects with `APPROVAL_UNKNOWN`; with `APPROVAL_CLOSED` if it has an answer, has expired, or its run has
   * ended; with `APPROVAL_FORBIDDEN` if another person must answer; with `OPTION_INVALID` for a scope that it does not offer.
   */
  answer(id: string, answer: GivenAnswer): Promise<Approval>;
}

/** Creates the access to the questions of a database, which is opened at the first use. */
export function createApprovals(open: () => Promise<Database>): Approvals {
  const rows = async (): Promise<Database["approvals"]> => {
    const { approvals } = await open();
    await closeAbandoned(approvals);
    return approvals;
  };
  return {
    async list(state, viewer) {
      const approvals = await rows();
      const visible = getReadableRows(await approvals.list(state), viewer);
      const now = await approvals.now();
      return visible.map((row) => toApproval(row, now));
    },
    async get(id, viewer) {
      const approvals = await rows();
      const row = getReadableRow(await approvals.get(id), viewer);
      return row && toApproval(row, await approvals.now());
    },
    async answer(id, answer) {
      const approvals = await rows();
      const { approve, scope = "once", by = OWNER.id, isAdmin = true, viewer } = answer;
      const row = getReadableRow(await approvals.get(id), viewer);
      if (row === undefined) throw await createUnknownError(id, approvals, viewer);
      requireAnswerer(row, { approve, scope, by, isAdmin });
      const time = await approvals.now();
      const isFirst = await approvals.answer(id, {
        state: approve ? "approved" : "denied",
        scope: approve ? scope : null,
        by,
        as: isAdmin ? "admin" : "user",
        time,
      });
      const after = getReadableRow(await approvals.get(id), viewer) ?? row;
      if (!isFirst) throw createClosedError(after, time);
      return toApproval(after, time);
    },
  };
}

/** Closes questions that have expired, and those whose process has ended. */
export async function closeAbandoned(approvals: Database["approvals"]): Promise<void> {
  await approvals.expire(await approvals.now());
  for (const { id, waiter } of await approvals.list("pending"))
    if (waiter !== null && hasEnded(waiter)) await approvals.close(id, "orphaned");
}

export function toApproval(row: ApprovalRow, now: number): Approval {
  const { waiter, ...rest } = row;
  return { ...rest, isWaiting: waiter !== null, card: formatCard(row, { now }).text };
}

/** An administrator who made the call cannot approve it; the owner can. */
function requireAnswerer(
  row: ApprovalRow,
  { approve, scope, by, isAdmin }: Required<Omit<GivenAnswer, "viewer">>,
): void {
  const isOwnQuestion = by === row.caller && by !== OWNER.id;
  if (row.approver === "admin" && (!isAdmin || isOwnQuestion)) {
    const why = isOwnQuestion ? `its caller ${JSON.stringify(by)} cannot answer it` : `${JSON.stringify(by)} is a user`;
    throw forbidden(`request ${row.id} needs an administrator, and ${why}`);
  }
  if (!approve) return;
  if (!row.scopes.includes(scope)) {
    const values = `request ${row.id} can be approved for ${row.scopes.join(", ")}, not for ${scope}`;
    throw new SkillgateError("OPTION_INVALID", sentence("OPTION_INVALID", values));
  }
  if (scope === "always" && !isAdmin) throw forbidden(`only an administrator can approve request ${row.id} for always`);
}

function forbidden(values: string): SkillgateError {
  return new SkillgateError("APPROVAL_FORBIDDEN", sentence("APPROVAL_FORBIDDEN", values));
}

async function createUnknownError(
  id: string,
  approvals: Database["approvals"],
  viewer: Caller | undefined,
): Promise<SkillgateError> {
  const pending = getReadableRows(await approvals.list("pending"), viewer).map((row) => row.id);
  const { detail, suggestions } = describeUnknownName("approval request", id, pending);
  return new SkillgateError("APPROVAL_UNKNOWN", sentence("APPROVAL_UNKNOWN", detail), { suggestions });
}

function createClosedError({ id, state, answeredBy, expires }: ApprovalRow, now: number): SkillgateError {
  const why: Readonly<Record<ApprovalState, string>> = {
    pending: expires <= now ? "has expired" : "cannot be answered now",
    approved: `was approved by ${JSON.stringify(answeredBy)}`,
    denied: `was denied by ${JSON.stringify(answeredBy)}`,
    expired: "has expired",
    cancelled: "belongs to a run that has ended",
    orphaned: "belongs to a process that has ended",
  };
  return new SkillgateError("APPROVAL_CLOSED", sentence("APPROVAL_CLOSED", `request ${id} ${why[state]}`));
}
