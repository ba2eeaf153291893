import { createError, getMessage, type SkillgateError } from "../errors.ts";
import {
  APPROVAL_SCOPES,
  type ApprovalAnswer,
  type ApprovalRequest,
  type ApprovalScope,
  type ApprovalWait,
  type Approve,
  type Approver,
} from "../model/approval.ts";
import { type Caller, OWNER } from "../model/caller.ts";
import { findMethodPath } from "../model/permissions.ts";
import type { ApprovalDetails, CallToApprove, DecideApproval } from "../router/index.ts";
import {
  type ApprovalFacts,
  type ApprovalRow,
  type Database,
  getProcessName,
  type NewApproval,
  UNANSWERED,
} from "../store/index.ts";
import { type Approval, closeAbandoned, recordAnswer, toApproval } from "./answers.ts";
import { addApprovedRow, ALWAYS_MS, type ApprovedFile, findApprovedRow } from "./approved-rows.ts";
import { formatCard } from "./card.ts";
import { getLiteralCalls } from "./plan-texts.ts";
import { createQuestion } from "./questions.ts";
import { abortWhenClosed, type AnswerWaiter, createAnswerWaiter, mayWaitBeside } from "./waiting.ts";
import { splitPath } from "../shared/names/method-paths.ts";

export interface DecisionOptions {
  readonly open: () => Promise<Database>;
  /** The time for which a question can be answered, and an unused yes counts. */
  readonly expireMs: number;
  readonly wait: ApprovalWait;
  /** Asks a person about each call; absent without such a person. */
  readonly ask?: Approve;
  /** Returns the file of the rows for "always"; `undefined` if the project has none, or may not use it. */
  readonly getApprovedFile: () => ApprovedFile | undefined;
  /** Says why the rows of the file do not count now; `undefined` if they do. */
  readonly whyRowsHeld?: () => Promise<string | undefined>;
  readonly onQuestion: (approval: Approval) => void;
  readonly warn: (text: string) => void;
}

/** Decides on calls that need an approval. */
export interface ApprovalDecisions {
  readonly decide: DecideApproval;
  /** Ends all waits and closes their questions. */
  close(): Promise<void>;
}

/** A question without a waiting call is recorded beside fewer open ones of its caller than these. */
const MAX_UNATTENDED = 1_000;

/** Answered questions are deleted after 30 days; those in memory after 10 minutes. */
const RETENTION_MS = { memory: 600_000, sqlite: 30 * 24 * 3_600_000, postgres: 30 * 24 * 3_600_000 } as const;
const PRUNE_EVERY = 500;

export function createApprovalDecisions(options: DecisionOptions): ApprovalDecisions {
  return new Decisions(options);
}

interface OpenRecords {
  readonly approvals: Database["approvals"];
  readonly kind: Database["kind"];
  readonly waiter: AnswerWaiter;
}

class Decisions implements ApprovalDecisions {
  readonly #options: DecisionOptions;
  #opening: Promise<OpenRecords> | undefined;
  #hasClosedAbandoned = false;
  #added = 0;
  #isClosed = false;

  constructor(options: DecisionOptions) {
    this.#options = options;
  }

  readonly decide: DecideApproval = async (request, details) => {
    const { asksForFlow, asksForEffects } = details;
    if (!asksForFlow && (takeCovered(request, details) || (!asksForEffects && (await this.#hasRow(request, details)))))
      return true;
    const records = await this.#openRecords(request);
    if (details.recorded?.isResumed === true) await restoreRunApprovals(records.approvals, request, details);
    if (!asksForFlow && takeCovered(request, details)) return true;
    const yes = (await this.#useEarlierYes(records, request, details)) ?? (await this.#ask(records, request, details));
    applyScope(yes, details);
    if (yes.scope === "plan") takeCovered(request, details); // it is one of the calls of the plan
    if (yes.scope === "always") await this.#addRow(yes, details);
    return true;
  };

  async close(): Promise<void> {
    this.#isClosed = true;
    const records = await this.#opening?.catch(() => undefined); // it never opened
    for (const id of records?.waiter.callers.keys() ?? []) {
      const question = await records?.approvals.get(id).catch(() => undefined); // the next process closes it
      if (records === undefined) continue;
      if (question === undefined) records.waiter.stop(id, new Error("The runtime was closed"));
      else await this.#release(records, question, "The runtime was closed");
    }
  }

  /** Ends the wait of this process. The question of a run with a record stays open: another process continues the run. */
  async #release(records: OpenRecords, { id, waiter }: NewApproval, why: string): Promise<void> {
    if (waiter !== null && isRunWaiter(waiter)) records.waiter.stop(id, new Error(why));
    else await this.#withdraw(records, id, why);
  }

  /** A failure is for the owner: it may name a folder of this machine. */
  async #openRecords(request: CallToApprove): Promise<OpenRecords> {
    const { open, warn } = this.#options;
    this.#opening ??= open().then((database) => {
      const onFailure = (error: unknown): void => warn(`Cannot read approvals: ${getMessage(error)}`);
      const waiter = createAnswerWaiter(database, onFailure);
      return { approvals: database.approvals, kind: database.kind, waiter };
    });
    try {
      const records = await this.#opening;
      await this.#closeAbandoned(records);
      return records;
    } catch (cause) {
      this.#opening = undefined;
      warn(`Cannot ask for an approval: ${getMessage(cause)}`);
      throw refusal(request, ", and the store of approvals cannot be used", { cause });
    }
  }

  /** Closes once the questions of processes that have ended. The next call tries again if that fails: this one does not need it. */
  async #closeAbandoned({ approvals }: OpenRecords): Promise<void> {
    if (this.#hasClosedAbandoned) return;
    this.#hasClosedAbandoned = true;
    try {
      await closeAbandoned(approvals);
    } catch (error) {
      this.#hasClosedAbandoned = false;
      this.#options.warn(`Cannot close abandoned approvals: ${getMessage(error)}`);
    }
  }

  async #hasRow(
    { path, caller }: CallToApprove,
    { accountIds: accounts }: Pick<ApprovalDetails, "accountIds">,
  ): Promise<boolean> {
    const approvedFile = this.#options.getApprovedFile();
    if (approvedFile === undefined) return false;
    try {
      const row = await findApprovedRow(approvedFile.file, { path, caller: caller.id, accounts, now: Date.now() });
      return row !== undefined && (await this.#options.whyRowsHeld?.()) === undefined;
    } catch (error) {
      this.#options.warn(`Cannot use the approved calls: ${getMessage(error)}`);
      return false;
    }
  }

  async #addRow(
    { path, caller, answeredBy }: ApprovalFacts,
    { accountIds: accounts }: Pick<ApprovalDetails, "accountIds">,
  ): Promise<void> {
    const approvedFile = this.#options.getApprovedFile();
    if (approvedFile === undefined) return;
    const now = Date.now();
    try {
      const row = { path, caller, accounts, expires: now + ALWAYS_MS, by: answeredBy ?? OWNER.id };
      await addApprovedRow(approvedFile, row, now);
    } catch (error) {
      this.#options.warn(`Cannot keep the approval of ${path}: ${getMessage(error)}`);
    }
  }

  /** Uses a yes to the same call that was given after the call had been refused. */
  async #useEarlierYes(
    { approvals }: OpenRecords,
    { caller, path }: CallToApprove,
    { digest }: ApprovalDetails,
  ): Promise<ApprovalFacts | undefined> {
    const found = await approvals.find({ caller: caller.id, path, digest, state: "approved" });
    for (const row of found)
      if (row.waiter === null && row.usedAt === null && (await approvals.use(row.id, await approvals.now())))
        return row;
    return undefined;
  }

  /** Records the question, asks the person if there is one, and waits for the first answer. */
  async #ask(records: OpenRecords, request: CallToApprove, details: ApprovalDetails): Promise<ApprovalFacts> {
    const { ask = this.#options.ask, cancellable } = details;
    const { expireMs, onQuestion } = this.#options;
    const now = await records.approvals.now();
    const isAttended = Boolean(ask) || this.#mayWait(details);
    const earlier = await findOwnQuestion(records.approvals, request, details);
    // A yes that was used counts for this call: its record says that the call was not made.
    if (earlier?.state === "approved" && earlier.usedAt !== null) return earlier;
    if (earlier !== undefined && earlier.state !== "pending") return this.#requireYes(records, request, earlier);
    const question =
      earlier ??
      createQuestion(request, details, {
        created: now,
        expires: now + expireMs,
        waiter: getWaiter(isAttended, request, details),
        canAlways: this.#options.getApprovedFile() !== undefined,
      });
    if (question.waiter === null) return this.#leave(records, request, question);
    const callers = [...records.waiter.callers.values()];
    if (!mayWaitBeside(callers, request.caller.id))
      throw refusal(request, `; ${callers.length} others wait for an answer`);
    if (earlier === undefined) {
      await records.approvals.add(question);
      await this.#prune(records);
    }
    details.recorded?.onQuestion();
    const stop = cancellable.onCancel(() => {
      if (details.recorded?.isLeft() === true) records.waiter.stop(question.id, new Error("The runtime was closed"));
      else void this.#withdraw(records, question.id, "The run has ended");
    });
    const answered = records.waiter.wait(question);
    answered.catch(() => {}); // also awaited below, unless asking fails first
    if (this.#isClosed) void this.#release(records, question, "The runtime was closed");
    onQuestion(toApproval({ ...question, ...UNANSWERED }, now));
    const closed = abortWhenClosed(answered);
    const answerer = details.ask === undefined ? OWNER : request.caller;
    try {
      if (ask)
        void this.#askPerson(records, ask, {
          request,
          question,
          answerer,
          closed,
          now,
          mayWait: this.#mayWait(details),
        });
      return await this.#requireYes(records, request, await answered);
    } finally {
      stop();
    }
  }

  async #withdraw({ approvals, waiter }: OpenRecords, id: string, why: string): Promise<void> {
    waiter.stop(id, new Error(why));
    await approvals.close(id, "cancelled").catch(() => {}); // it expires
  }

  async #prune({ approvals, kind }: OpenRecords): Promise<void> {
    if (++this.#added % PRUNE_EVERY === 0) await approvals.prune((await approvals.now()) - RETENTION_MS[kind]);
  }

  /**
   * Leaves the question to be answered later, and throws the error of this call. Uses the answer to the same question if a person has
   * given it meanwhile.
   */
  async #leave(records: OpenRecords, request: CallToApprove, question: NewApproval): Promise<ApprovalFacts> {
    const { approvals } = records;
    const row = await approvals.leave(question, MAX_UNATTENDED);
    if (row === undefined) throw refusal(request, `; ${MAX_UNATTENDED} others wait for an answer`);
    if (row.state === "approved") {
      const isUsed = await approvals.use(row.id, await approvals.now());
      return isUsed ? row : this.#leave(records, request, question); // another call has used it
    }
    if (row.id === question.id) await this.#prune(records);
    // An earlier run may have asked first; the event is about this one.
    this.#options.onQuestion(toApproval({ ...row, runId: question.runId }, await approvals.now()));
    throw pendingError(request, row.id);
  }

  /** True if a call waits for an answer also if no person was asked. */
  #mayWait({ recorded, ask }: ApprovalDetails): boolean {
    const { wait } = this.#options;
    if (ask === false) return false;
    return wait === "programs" ? recorded !== undefined : wait;
  }

  /** Asks the person at the program. An answer that comes from elsewhere meanwhile counts first. */
  async #askPerson(
    { approvals, waiter }: OpenRecords,
    ask: Approve,
    { request, question, answerer, closed, now, mayWait }: PersonQuestion,
  ): Promise<void> {
    const { id, scopes, expires } = question;
    const { text: card } = formatCard(question, { now, maxUnits: MAX_ASKED_UNITS });
    let answer: ApprovalAnswer | undefined = false;
    try {
      answer = await ask({ ...request, id, card, scopes, expires } satisfies ApprovalRequest, closed);
    } catch (error) {
      this.#options.warn(`Cannot ask for the approval of ${question.path}: ${getMessage(error)}`);
    }
    if (closed.aborted || (answer === undefined && mayWait)) return;
    try {
      if (answer === undefined) {
        await approvals.detach(id);
        waiter.stop(id, pendingError(request, id));
        return;
      }
      const scope = toScope(answer, scopes);
      const answerToRecord = { approve: scope !== undefined, ...(scope && { scope }), wasAsked: true };
      const { note } = await recordAnswer(approvals, question, answerToRecord, answerer);
      if (note !== undefined) this.#options.warn(note);
    } catch (error) {
      waiter.stop(id, error instanceof Error ? error : new Error(String(error)));
    }
  }

  async #requireYes({ approvals }: OpenRecords, request: CallToApprove, row: ApprovalFacts): Promise<ApprovalFacts> {
    if (row.state === "denied") throw refusal(request, ", which was denied; continue without this call");
    if (row.state === "approved" && (await approvals.use(row.id, await approvals.now()))) return row;
    if (row.state !== "expired" && row.state !== "approved") throw refusal(request, ", and the request was closed");
    const seconds = Math.round((row.expires - row.created) / 1_000);
    const values = `caller ${JSON.stringify(request.caller.id)} calls "${request.path}", and request ${row.id} expired after ${seconds} s`;
    throw createError("APPROVAL_EXPIRED", values, { approval: row.id });
  }
}

/** Returns the name of the process or run that waits for an answer; `null` if none does. */
function getWaiter(isAttended: boolean, { runId }: CallToApprove, { recorded }: ApprovalDetails): string | null {
  if (!isAttended) return null;
  return recorded === undefined ? getProcessName() : `${RUN_WAITER}${runId}`;
}

const RUN_WAITER = "run:";

function isRunWaiter(waiter: string): boolean {
  return waiter.startsWith(RUN_WAITER);
}

/** Returns the question of the same call that an earlier process has asked. */
async function findOwnQuestion(
  approvals: Database["approvals"],
  { runId }: CallToApprove,
  { callId, digest, recorded }: ApprovalDetails,
): Promise<ApprovalRow | undefined> {
  if (recorded?.isResumed !== true) return undefined;
  const questions = await approvals.listOfRun(runId);
  const own = questions.findLast((question) => question.callId === callId && question.digest === digest);
  return own && approvals.get(own.id);
}

/** Repeats which further calls of its run earlier answers cover. */
async function restoreRunApprovals(
  approvals: Database["approvals"],
  request: CallToApprove,
  details: ApprovalDetails,
): Promise<void> {
  const { approvedInRun, recorded } = details;
  if (approvedInRun === undefined || recorded === undefined || approvedInRun.isRestored) return;
  approvedInRun.isRestored = true;
  const questions = await approvals.listOfRun(request.runId);
  for (const question of questions.filter(({ state }) => state === "approved")) applyScope(question, details);
  for (const call of recorded.listMade())
    takePlanned([...approvedInRun.planned].find(([key, { left }]) => isPlanned(key, call) && left > 0)?.[1]);
}

/** The record has the method without its parts, and the beginning of the digest. */
function isPlanned(key: string, { path, digest }: { readonly path: string; readonly digest: string }): boolean {
  const [planned = "", whole = ""] = key.split(" ");
  return (findMethodPath(planned) ?? planned) === path && whole.startsWith(digest);
}

interface PersonQuestion {
  readonly request: CallToApprove;
  readonly question: NewApproval;
  /** The person at the program that makes the call is its caller; the one whom the runtime asks is the owner. */
  readonly answerer: Caller;
  /** Aborts when the question needs no answer any more. */
  readonly closed: AbortSignal;
  readonly now: number;
  readonly mayWait: boolean;
}

/** A person at a terminal can scroll. */
const MAX_ASKED_UNITS = 65_536;

/** Returns the scope of a yes; `undefined` for a no. A scope that was not offered counts for this call only. */
function toScope(answer: unknown, offered: readonly ApprovalScope[]): ApprovalScope | undefined {
  if (answer === true) return "once";
  const scope = APPROVAL_SCOPES.find((each) => each === answer);
  return scope === undefined || offered.includes(scope) ? scope : "once";
}

/** Uses an earlier yes of this run if one covers the call: a yes of a user does not cover a call that needs an administrator. */
function takeCovered({ path, approval }: CallToApprove, { approvedInRun, digest }: ApprovalDetails): boolean {
  const isEnough = (approver: Approver | undefined): boolean =>
    approver !== undefined && (approver === "admin" || approval === "user");
  if (isEnough(approvedInRun?.methods.get(path))) return true;
  const planned = approvedInRun?.planned.get(`${path} ${digest}`);
  return isEnough(planned?.approver) && takePlanned(planned);
}

/** Takes one call of those that a yes for the plan covers; false if none is left. */
function takePlanned(planned: { left: number } | undefined): boolean {
  if (planned === undefined || planned.left <= 0) return false;
  planned.left--;
  return true;
}

/** Lets a yes cover further calls of the run. */
function applyScope(
  { scope, answeredAs, path }: Pick<ApprovalFacts, "scope" | "answeredAs" | "path">,
  { approvedInRun, getPlan }: Pick<ApprovalDetails, "approvedInRun" | "getPlan">,
): void {
  if (approvedInRun === undefined) return;
  const approver = answeredAs ?? "user";
  if (scope === "run") approvedInRun.methods.set(path, approver);
  if (scope !== "plan") return;
  for (const call of getLiteralCalls(getPlan())) {
    const key = `${call.path} ${call.digest}`;
    const { left = 0 } = approvedInRun.planned.get(key) ?? {};
    approvedInRun.planned.set(key, { approver, left: call.inLoop ? Infinity : left + 1 });
  }
}

function pendingError(request: CallToApprove, id: string): SkillgateError {
  const fix = `Approve it with: skillgate approvals approve ${id}, then make the call again`;
  return refusal(request, `; request ${id} waits for an answer`, { facts: { approval: id, fix } });
}

function refusal(
  { caller, path }: CallToApprove,
  why: string,
  { facts = {}, ...options }: ErrorOptions & { readonly facts?: Readonly<Record<string, unknown>> } = {},
): SkillgateError {
  const values = `caller ${JSON.stringify(caller.id)} calls "${path}"${why}`;
  const names = splitPath(path);
  return createError("APPROVAL_MISSING", values, { ...names, ...facts }, options);
}
