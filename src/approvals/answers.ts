import { createError, type SkillgateError } from "../errors.ts";
import type { ApprovalScope } from "../model/approval.ts";
import { type Caller, mayAdminister, mayRead, OWNER, requireCaller } from "../model/caller.ts";
import { isRecord, type Json } from "../model/json.ts";
import { describeUnknownName } from "../shared/suggest.ts";
import { formatChoices } from "../shared/format-text.ts";
import {
  APPROVAL_STATES,
  type ApprovalFacts,
  type ApprovalRow,
  type ApprovalState,
  type Database,
  hasEnded,
} from "../store/index.ts";
import { formatCard } from "./card.ts";

/** A question and its answer in a list, without arguments and other texts. */
export interface ListedApproval extends Omit<ApprovalFacts, "waiter"> {
  /** True if a call waits for the answer, or waited for it; otherwise a yes counts for the next call with the same arguments. */
  readonly isWaiting: boolean;
}

/** A question and its answer, for people and programs. */
export interface Approval extends ListedApproval, Omit<ApprovalRow, "waiter"> {
  /** The question as text. */
  readonly card: string;
  /** Why the answer covers less than it was given for. */
  readonly note?: string;
}

/** An answer to a question. */
export interface GivenAnswer {
  readonly approve: boolean;
  /** The calls that a yes covers; `once` by default. */
  readonly scope?: ApprovalScope;
  /** True if the person at the program that makes the call was asked: then the caller of the run may answer. */
  readonly wasAsked?: boolean;
}

/**
 * Questions whether a call may be made, and their answers. A caller, the owner by default, sees the questions about methods
 * that it may read, without other methods in plan and provenance, and without `Read` those of its own calls.
 */
export interface Approvals {
  /**
   * Lists the questions in a state, the oldest first; in all states by default. Reads those that wait and the 1,000 that were
   * closed last, of all callers, without arguments and other texts: `get` returns these.
   */
  list(state?: ApprovalState, caller?: Caller): Promise<readonly ListedApproval[]>;
  get(id: string, caller?: Caller): Promise<Approval | undefined>;
  /**
   * Answers a question. A yes for `always` by another than the owner or an administrator who did not make the call counts once;
   * the result has a `note` that says so. Rejects with `APPROVAL_UNKNOWN`; with `APPROVAL_CLOSED` if it has an answer, has
   * expired, or its run has ended; with `APPROVAL_FORBIDDEN` if another person must answer; with `OPTION_INVALID` for a scope
   * that it does not offer.
   */
  answer(id: string, answer: GivenAnswer, caller?: Caller): Promise<Approval>;
}

/** Closed questions that a list reads. A store keeps those of 30 days: to look for those of one caller would read all. */
const MAX_CLOSED = 1_000;

/** Creates the access to the questions of a database, which is opened at the first use. */
export function createApprovals(open: () => Promise<Database>): Approvals {
  const rows = async (): Promise<Database["approvals"]> => {
    const { approvals } = await open();
    await closeAbandoned(approvals);
    return approvals;
  };
  return {
    async list(state, viewer) {
      requireState(state);
      const caller = requireCaller(viewer);
      const approvals = await rows();
      const isOpen = state === undefined || state === "pending";
      const pending = isOpen ? await approvals.list("pending") : [];
      const closed = state === "pending" ? [] : await approvals.listClosed(MAX_CLOSED);
      return [...pending, ...closed]
        .filter((row) => (state === undefined || row.state === state) && mayReadQuestion(row, caller))
        .toSorted((a, b) => a.created - b.created)
        .map(describeFacts);
    },
    async get(id, viewer) {
      const caller = requireCaller(viewer);
      const approvals = await rows();
      const row = getReadableRow(await approvals.get(id), caller);
      return row && toApproval(row, await approvals.now());
    },
    async answer(id, answer, answerer) {
      const caller = requireCaller(answerer);
      const approvals = await rows();
      const row = getReadableRow(await approvals.get(id), caller);
      if (row === undefined) throw await createUnknownError(id, approvals, caller);
      requireAnswerer(row, answer, caller);
      const { isFirst, note } = await recordAnswer(approvals, row, answer, caller);
      const time = await approvals.now();
      const after = getReadableRow(await approvals.get(id), caller) ?? row;
      if (!isFirst) throw createClosedError(after, time);
      return { ...toApproval(after, time), ...(note !== undefined && { note }) };
    },
  };
}

/** Throws `OPTION_INVALID` for another value than a state, such as options in which a caller would not count. */
function requireState(state: ApprovalState | undefined): void {
  if (state === undefined || APPROVAL_STATES.includes(state)) return;
  throw createError("OPTION_INVALID", `the state of approvals must be ${formatChoices(APPROVAL_STATES)}`);
}

/** Records an answer. Each answer passes here: no other place decides what a yes covers. */
export async function recordAnswer(
  approvals: Database["approvals"],
  { id, caller: asker, approver }: Pick<ApprovalFacts, "id" | "caller" | "approver">,
  { approve, scope = "once", wasAsked = false }: GivenAnswer,
  caller: Caller,
): Promise<{ readonly isFirst: boolean; readonly note?: string }> {
  const isAdmin = mayAdminister(caller, "AnswerApprovals");
  const isCut = approve && scope === "always" && caller.id !== OWNER.id && !(isAdmin && caller.id !== asker);
  const isFirst = await approvals.answer(id, {
    state: approve ? "approved" : "denied",
    scope: approve ? (isCut ? "once" : scope) : null,
    by: caller.id,
    as: wasAsked ? approver : isAdmin ? "admin" : "user",
    time: await approvals.now(),
  });
  return { isFirst, ...(isCut && { note: `The yes of ${JSON.stringify(caller.id)} counts once: ${ALWAYS_RULE}` }) };
}

const ALWAYS_RULE = "only the owner, or an administrator who did not make the call, approves for always";

/** Closes questions that have expired, and those whose process has ended. */
export async function closeAbandoned(approvals: Database["approvals"]): Promise<void> {
  await approvals.expire(await approvals.now());
  for (const { id, waiter } of await approvals.list("pending"))
    if (waiter !== null && hasEnded(waiter)) await approvals.close(id, "orphaned");
}

export function toApproval(row: ApprovalRow, now: number): Approval {
  return { ...describeFacts(row), card: formatCard(row, { now }).text };
}

function describeFacts<Facts extends ApprovalFacts>({
  waiter,
  ...rest
}: Facts): Omit<Facts, "waiter"> & ListedApproval {
  return { ...rest, isWaiting: waiter !== null };
}

/** An administrator who made the call cannot approve it if the method needs one; the owner can. */
function requireAnswerer(
  row: ApprovalFacts,
  { approve, scope = "once", wasAsked = false }: GivenAnswer,
  caller: Caller,
): void {
  const { id, approver } = row;
  const name = JSON.stringify(caller.id);
  const isAdmin = mayAdminister(caller, "AnswerApprovals");
  const isOwn = caller.id === row.caller && caller.id !== OWNER.id;
  if (approver === "admin" && isOwn)
    throw forbidden(`request ${id} needs an administrator, and its caller ${name} cannot answer it`);
  if (!isAdmin && (approver === "admin" || !isOwn || !wasAsked))
    throw forbidden(`request ${id} needs an administrator, and ${name} has no right admin:AnswerApprovals`);
  if (!approve || row.scopes.includes(scope)) return;
  const values = `request ${id} can be approved for ${row.scopes.join(", ")}, not for ${scope}`;
  throw createError("OPTION_INVALID", values);
}

function forbidden(values: string): SkillgateError {
  return createError("APPROVAL_FORBIDDEN", values);
}

async function createUnknownError(
  id: string,
  approvals: Database["approvals"],
  caller: Caller,
): Promise<SkillgateError> {
  const pending = (await approvals.list("pending")).filter((row) => mayReadQuestion(row, caller)).map((row) => row.id);
  const { detail, suggestions } = describeUnknownName("approval request", id, pending);
  return createError("APPROVAL_UNKNOWN", detail, { suggestions });
}

function createClosedError({ id, state, answeredBy, expires }: ApprovalFacts, now: number): SkillgateError {
  const why: Readonly<Record<ApprovalState, string>> = {
    pending: expires <= now ? "has expired" : "cannot be answered now",
    approved: `was approved by ${JSON.stringify(answeredBy)}`,
    denied: `was denied by ${JSON.stringify(answeredBy)}`,
    expired: "has expired",
    cancelled: "belongs to a run that has ended",
    orphaned: "belongs to a process that has ended",
  };
  return createError("APPROVAL_CLOSED", `request ${id} ${why[state]}`);
}

/** Replaces the path of a method that the viewer may not read. */
const HIDDEN = "another method";

function mayReadQuestion({ caller, path }: Pick<ApprovalFacts, "caller" | "path">, viewer: Caller): boolean {
  return (caller === viewer.id || mayAdminister(viewer, "Read")) && mayRead(viewer, path);
}

/**
 * Returns a question as a viewer may see it: about a method that it may read, and of its own calls unless it may read those of
 * others; `undefined` for any other.
 */
function getReadableRow(row: ApprovalRow | undefined, viewer: Caller): ApprovalRow | undefined {
  if (row === undefined || !mayReadQuestion(row, viewer)) return undefined;
  const isReadable = (path: unknown): boolean => typeof path === "string" && mayRead(viewer, path);
  return {
    ...row,
    plan: toList(row.plan).filter((call) => isRecord(call) && isReadable(call["path"])),
    // Each is a sentence that ends with the path of a method.
    provenance: toList(row.provenance).map((text) =>
      (typeof text === "string" ? text : "").replace(/\S+$/, (path) => (isReadable(path) ? path : HIDDEN)),
    ),
  };
}

function toList(value: Json): readonly Json[] {
  return Array.isArray(value) ? value : [];
}
