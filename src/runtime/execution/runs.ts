import type { Cancellable } from "../../../sandbox/index.ts";
import { sentence } from "../../errors.ts";
import { createCancelReason } from "../../model/credential.ts";
import { type Caller, OWNER, requireCaller } from "../../model/caller.ts";
import type { Outcome } from "../../model/outcome.ts";
import type { ResultSpace } from "../../model/kept-results.ts";
import type { RunObserver } from "../../model/run-observer.ts";
import type { Approve } from "../../model/approval.ts";
import {
  type ComparedRun,
  compareRuns,
  createTimeline,
  isIncomplete,
  type RecentRun,
  restoreOutcome,
  type RunDifference,
  type RunHeader,
  type RunRecord,
} from "../../runs/index.ts";
import { createQueues } from "../../shared/threads/queue.ts";
import type { Database, RunRow } from "../../store/index.ts";
import { checkQueries } from "../refusals/check-queries.ts";
import { mayAsk } from "./may-ask.ts";
import { followRuns } from "./follow-runs.ts";
import {
  describeWaiting,
  executeRecorded,
  type ExecutionOptions,
  type RunStop,
  waitForRun,
} from "./execute-recorded.ts";
import { createReplays, type RunReplays } from "./replay.ts";
import { restoreContinuation } from "./continue-run.ts";
import { readProgram, restoreInput } from "./run-header.ts";
import {
  createRunLists,
  hideContent,
  type ListOptions,
  type RunLists,
  type RunListsOptions,
  toFacts,
} from "./run-lists.ts";
import { traceRun } from "../trace-run.ts";
import type { CheckedRun, RunRequest, RunServices } from "./run-services.ts";
import { isHidden, maySeeRun, requireMayChange, seesWhole, type ShownRun } from "./rights/view-run.ts";
import { createRunAccess, type RunAccess } from "./rights/run-access.ts";
import { whyOtherAccounts } from "./rights/run-accounts.ts";
import { KEY_ENDED } from "./rights/watch-rights.ts";

export interface ResumeRunOptions {
  /** On whose behalf; the run itself continues as its own caller. The owner by default. */
  readonly caller?: Caller;
  /** Lets the run call methods that have changed since it began. */
  readonly acceptsChanges?: boolean;
  readonly signal?: AbortSignal | Cancellable;
  readonly observer?: RunObserver;
  readonly approve?: Approve | false;
  /** Where the run keeps large results and finds those of earlier runs; in the runtime by default. */
  readonly resultSpace?: ResultSpace;
}

/**
 * The recorded runs. A caller sees its own, an administrator all; others do not exist for it. A run of another that names a method
 * which the caller may not see is shown without program, arguments and results; what needs these throws `RUN_HIDDEN`.
 */
export interface Runs extends RunReplays, RunLists {
  /** Returns a run with its record, timeline and outcome. Throws `RUN_NOT_FOUND`, `RUN_DAMAGED`. */
  show(id: string, options?: Pick<ListOptions, "caller" | "withUnrecorded">): Promise<ShownRun>;
  /** Compares two runs, call by call. Throws `RUN_NOT_FOUND`, `RUN_DAMAGED`. */
  compare(first: string, second: string, options?: Pick<ListOptions, "caller">): Promise<readonly RunDifference[]>;
  /** Returns what is recorded of a run. Throws `RUN_NOT_FOUND`, `RUN_DAMAGED`. */
  record(id: string, options?: Pick<ListOptions, "caller">): Promise<RunRecord>;
  /**
   * Continues a run that no process executes, or waits for one of this process. Resolves to its outcome, or to that it waits for
   * a person. A run whose record is too large fails with `RUN_INCOMPLETE`, and one that was continued five times without
   * progress with `RESUME_LIMIT`. A run whose access token has ended waits until its caller resumes it with another. Throws `RUN_NOT_FOUND`, `RUN_BUSY`, `RUN_DAMAGED`; `CANCELLED` if the key of its caller is
   * not valid any more. Only the caller of the run and holders of `ManageRuns` continue and cancel it.
   */
  resume(id: string, options?: ResumeRunOptions): Promise<Outcome>;
  /**
   * Returns the outcome of a run that has ended or waits for a person; `undefined` for one that is executed.
   * Never continues a run. Throws `RUN_NOT_FOUND`, `RUN_DAMAGED`.
   */
  outcome(id: string, options?: Pick<ListOptions, "caller">): Promise<Outcome | undefined>;
  /**
   * True if calls wait for persons, and one is asked before a method that the caller may call; or a run of the caller has
   * waited.
   */
  canWait(caller: Caller): boolean;
  /** Ends a run. Throws `RUN_NOT_FOUND`, `RUN_BUSY`. */
  cancel(id: string, options?: Pick<ListOptions, "caller">): Promise<void>;
  /**
   * Continues the runs of processes that have ended, now and when their questions are answered; returns the function that
   * stops it. If the store does not work, this begins as soon as it does.
   */
  follow(): Promise<() => void>;
  /** Continues no more runs, and resolves when each run of this process has ended or waits for a person. */
  settle(): Promise<void>;
}

interface RunsOptions extends RunListsOptions {
  readonly createRequest: (options: ResumeRunOptions & Pick<RunRequest, "limits" | "asksForEffects">) => RunRequest;
  /** Resolves when these methods are in the catalog, or their providers do not have them. */
  readonly whenKnown: (paths: readonly string[]) => Promise<void>;
  /** True if calls wait for the answers of persons; else a call without an answer fails at once. */
  readonly waitsForAnswers: boolean;
  readonly warn: (text: string) => void;
  /** Receives the outcome of each run that was continued, before the outcome is returned. */
  readonly onOutcome: (outcome: Outcome, caller: string) => Promise<void>;
}

export function createRuns(options: RunsOptions): Runs {
  const { services } = options;
  const access = createRunAccess(options);
  const inTurn = createQueues();
  const cancelElsewhere = (row: RunRow): Promise<void> => cancelUnexecuted(row, access, options);

  async function resume(id: string, options: ResumeRunOptions = {}): Promise<Outcome> {
    const { caller = OWNER, observer: _callsOfAnother, ...how } = options;
    const row = await access.find(id, caller);
    requireMayChange(caller, row);
    if (seesWhole(caller, row)) return resumeWhole(id, options);
    // The run of another caller: the program may name further methods until it ends.
    await access.read(id, { caller });
    const outcome = await resumeWhole(id, how);
    await access.read(id, { caller });
    return outcome;
  }

  /** Requests for one run wait for each other until it is open: the next one finds it open, or ended. */
  async function resumeWhole(id: string, how: ResumeRunOptions): Promise<Outcome> {
    const { outcome } = await inTurn(id, () => openRun(id, how));
    return outcome;
  }

  /** Continues a run that can be. Needs the turn of the run. */
  async function openRun(id: string, how: ResumeRunOptions): Promise<ContinuedRun> {
    if (services.records.open.has(id)) return { outcome: waitForRun(id, services) };
    const row = await access.find(id);
    const record = await access.readEntries(id);
    if (record.outcome !== undefined) return { outcome: restoreOutcome(record.outcome) };
    if (row.ended !== null) return { outcome: createCancelledOutcome(id) };
    // After a restart, MCP servers may not be connected yet.
    await options.whenKnown(record.header.program.paths);
    const rights = await services.findRights(record.header.caller, how.caller);
    if (rights.kind === "unproved")
      return { outcome: describeWaiting(id, await services.listApprovals(id), record.header.caller) };
    if (rights.kind === "ended") {
      await cancelElsewhere(row);
      throw createCancelReason(KEY_ENDED);
    }
    const { caller } = rights;
    const why = await whyOtherAccounts(record.accounts, caller, services.accounts);
    if (why !== undefined) {
      await cancelElsewhere(row);
      throw createCancelReason(why);
    }
    return continueRun({ row, record, caller }, how, access, options);
  }

  return {
    ...createRunLists(options, access),
    ...createRunQueries(options, access),
    ...createReplays({ readRunRecord: access.read, services, createRequest: options.createRequest }),
    resume,
    async cancel(id, { caller } = {}) {
      const row = await access.find(id, caller);
      requireMayChange(requireCaller(caller), row);
      const here = await inTurn(id, async () => {
        const open = services.records.open.get(id);
        if (open === undefined) await cancelElsewhere(await access.find(id));
        return open;
      });
      here?.cancel();
      await here?.settled;
    },
    ...createFollowing(options, resume),
  };
}

/** The outcome of a run that is open or has ended. It is in an object, so that a turn can end before the run. */
interface ContinuedRun {
  readonly outcome: Outcome | Promise<Outcome>;
}

/** Claims a run and executes it. */
async function continueRun(
  stored: StoredRun,
  how: ResumeRunOptions,
  access: RunAccess,
  options: RunsOptions,
): Promise<ContinuedRun> {
  const { services, onOutcome } = options;
  await access.claim(stored.row);
  const recorder = services.records.continue(stored.row, stored.record);
  const ownServices = how.resultSpace === undefined ? services : { ...services, ...how.resultSpace };
  let prepared: PreparedRun;
  try {
    await recorder.claim();
    prepared = await prepareRun(stored, how, options);
  } catch (error) {
    await recorder.leave();
    throw error;
  }
  const { run, request, execution } = prepared;
  const executed = traceRun(() => executeRecorded(run, recorder, request, ownServices, execution));
  return { outcome: executed.then((outcome) => onOutcome(outcome, stored.caller.id).then(() => outcome)) };
}

/** Cancels a run that no process executes. */
async function cancelUnexecuted(row: RunRow, access: RunAccess, { open, services }: RunsOptions): Promise<void> {
  if (row.ended !== null) return;
  await access.claim(row);
  try {
    const database = await open();
    await closeQuestions(row, database);
    const ended = Date.now();
    await database.runs.update(row.id, { state: "cancelled", ended, duration: Math.max(0, ended - row.created) });
  } finally {
    await services.records.claims.release(row.id);
  }
}

/** Creates the methods that continue runs of processes that have ended, and that stop this. */
function createFollowing(
  { open, warn, services: { records } }: RunsOptions,
  resume: (id: string) => Promise<Outcome>,
): Pick<Runs, "follow" | "settle"> {
  const stopFollowing: (() => void)[] = [];
  return {
    async follow() {
      let isStopped = false;
      let stopWatching = (): void => {};
      const stop = (): void => {
        isStopped = true;
        stopWatching();
      };
      records.onClose(stop);
      stopFollowing.push(stop);
      await records.retries.add("follow the runs", async () => {
        if (isStopped) return;
        stopWatching = await followRuns({ open, warn, resume, claims: records.claims });
        if (isStopped) stopWatching();
      });
      return stop;
    },
    async settle() {
      for (const stop of stopFollowing.splice(0)) stop();
      await Promise.all([...records.open.values()].map((run) => run.whenIdle()));
    },
  };
}

/** Creates the methods that read the records of runs and change nothing. */
function createRunQueries(
  { open, services, getCatalog, waitsForAnswers }: RunsOptions,
  access: RunAccess,
): Pick<Runs, "show" | "compare" | "record" | "outcome" | "canWait"> {
  async function findOutcome(
    { id, state, ended }: RunRow,
    { outcome, header }: RunRecord,
  ): Promise<Outcome | undefined> {
    if (outcome !== undefined) return restoreOutcome(outcome);
    if (ended !== null) return createCancelledOutcome(id);
    return state === "waiting" ? describeWaiting(id, await services.listApprovals(id), header.caller) : undefined;
  }

  return {
    async show(id, { caller = OWNER, withUnrecorded = false } = {}) {
      const unrecorded = withUnrecorded ? services.records.recent.get(id) : undefined;
      if (unrecorded !== undefined && maySeeRun(caller, unrecorded.row)) return showRecent(unrecorded, caller);
      const row = await access.find(id, caller);
      const free = await services.records.claims.findFree([row]);
      const record = await access.readEntries(id);
      if (isHidden(caller, record)) return { run: toFacts(hideContent(row), free), content: undefined };
      const { approvals } = await open();
      const timeline = createTimeline(record, await approvals.listOfRun(id));
      return { run: toFacts(row, free), content: { record, timeline, outcome: await findOutcome(row, record) } };
    },
    async compare(first, second, options) {
      const read = async (id: string): Promise<ComparedRun> => {
        const record = await access.read(id, options);
        return { state: (await access.find(id, options?.caller)).state, record };
      };
      return compareRuns(await read(first), await read(second));
    },
    record: access.read,
    async outcome(id, options = {}) {
      const record = await access.read(id, options);
      return findOutcome(await access.find(id, options.caller), record);
    },
    canWait: (caller) =>
      services.records.waited.has(caller.id) || (waitsForAnswers && mayAsk(getCatalog(caller), services.getPolicy())),
  };
}

function showRecent({ row, record }: RecentRun, caller: Caller): ShownRun {
  const free = new Set([row]);
  if (isHidden(caller, record)) return { run: toFacts(hideContent(row), free), content: undefined };
  const outcome = record.outcome && restoreOutcome(record.outcome);
  return { run: toFacts(row, free), content: { record, timeline: [], outcome } };
}

async function closeQuestions({ id: run }: RunRow, { approvals }: Database): Promise<void> {
  for (const { id, state } of await approvals.listOfRun(run))
    if (state === "pending") await approvals.close(id, "cancelled");
}

/** A program that ends its process each time is not continued for ever. */
const MAX_ATTEMPTS = 5;

/** Returns why a run ends instead of being continued. */
function findLimit({ id, attempts, claimedBy }: RunRow, record: RunRecord): RunStop | undefined {
  if (isIncomplete(record)) return { code: "RUN_INCOMPLETE", values: `run ${id}` };
  if (attempts < MAX_ATTEMPTS) return undefined;
  const last = claimedBy === null ? "" : `, the last time by ${claimedBy}`;
  return { code: "RESUME_LIMIT", values: `run ${id}, ${attempts} times${last}` };
}

/** A run in the store, and the caller that it continues as. */
interface StoredRun {
  readonly row: RunRow;
  readonly record: RunRecord;
  readonly caller: Caller;
}

interface PreparedRun {
  readonly run: CheckedRun;
  readonly request: RunRequest;
  readonly execution: ExecutionOptions;
}

/** Prepares the execution of a run that was claimed, or its end if it has reached a limit. */
async function prepareRun(
  { row, record, caller }: StoredRun,
  {
    observer: { requestValues: _ofAnotherRequest, ...observer } = {},
    acceptsChanges = false,
    ...how
  }: ResumeRunOptions,
  { open, services, createRequest, warn }: RunsOptions,
): Promise<PreparedRun> {
  const { limits, asksForEffects = false, automation } = record.header;
  const resumed = createRequest({ ...how, observer, caller, limits, asksForEffects });
  const request = {
    ...resumed,
    ...restoreInput(record.header),
    ...(automation !== undefined && { automation }),
  };
  const database = await open();
  const end = findLimit(row, record);
  if (end !== undefined) {
    warn(`Cannot continue run ${row.id}: ${sentence(end.code, end.values)}`);
    await closeQuestions(row, database);
  }
  const continuation = await restoreContinuation(record, database);
  const execution = { isResumed: true, continuation, acceptsChanges, ...(end !== undefined && { end }) };
  return { run: await restoreRun(row.id, record.header, request, services), request, execution };
}

/** Restores a run from its header. */
async function restoreRun(
  id: string,
  header: RunHeader,
  request: RunRequest,
  services: RunServices,
): Promise<CheckedRun> {
  const { source, notes } = header;
  const { plan } = await checkQueries(services.inspect(source, request), source);
  return { runId: id, source, notes, program: readProgram(header), plan };
}

/** The outcome of a run that was cancelled while no process executed it. */
export function createCancelledOutcome(runId: string): Outcome {
  const message = sentence("CANCELLED", "while it waited");
  const error = { name: "LimitError", code: "CANCELLED", message, line: 0, column: 0, frame: "", hint: "" } as const;
  const usage = { cpuMs: 0, wallMs: 0, memoryBytes: 0, calls: 0 };
  return { kind: "failed", runId, error, output: "", text: message, notes: [], calls: [], usage };
}
