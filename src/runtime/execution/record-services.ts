import { type Cancellable, Cancellation } from "../../../sandbox/index.ts";
import type { Outcome } from "../../model/outcome.ts";
import {
  type Claims,
  createClaims,
  createRecentRuns,
  createRetryQueue,
  type RecentRuns,
  type RetryQueue,
  type RunRecord,
  RunRecorder,
} from "../../runs/index.ts";
import { getMessage } from "../../errors.ts";
import type { UsableAccounts } from "../../model/account.ts";
import type { AccessToken, Caller } from "../../model/caller.ts";
import type { LogListener } from "../options.ts";
import type { RuntimeSettings } from "../settings/runtime-settings.ts";
import type { LazyDatabase, RunRow } from "../../store/index.ts";
import type { OpenContinuation } from "./continue-run.ts";
import { findRights } from "./rights/find-rights.ts";
import { createRefusalRecorder, type RefusalRecorder } from "../refusals/record-refusals.ts";
import { createHeader } from "./run-header.ts";
import type { CheckedRun, RunRequest, RunServices } from "./run-services.ts";

/** A run of this process that is recorded, until its end is. */
export interface OpenRun {
  readonly recorder: RunRecorder;
  readonly caller: Caller;
  /** Resolves when the run has ended. */
  readonly settled: Promise<Outcome>;
  /** Resolves when the run has waited for a person for `holdMs` since the call. */
  whenWaiting(isPatient?: boolean): Promise<undefined>;
  /** Resolves when the run has ended, or as soon as it waits for a person. */
  whenIdle(): Promise<unknown>;
  /** The access token that ended while the run waited: the run was left until its caller comes with another. */
  getEndedToken(): AccessToken | undefined;
  cancel(): void;
}

/** Records the runs of a runtime. */
export interface RecordServices {
  /** Returns `undefined` for a run that can neither wait for a person nor have an effect, and is not to be recorded. */
  create(run: CheckedRun, request: RunRequest, continued?: OpenContinuation): RunRecorder | undefined;
  /** Continues the record of a run that was claimed. */
  continue(run: Pick<RunRow, "id" | "created">, record: RunRecord): RunRecorder;
  /** Records a program that was refused, unless nothing is recorded. */
  readonly addRefused: RefusalRecorder["add"];
  /** The newest runs that ended without a record. */
  readonly recent: RecentRuns;
  readonly open: Map<string, OpenRun>;
  /** The ids of the callers whose runs have waited for a person for longer than the callers did. */
  readonly waited: Set<string>;
  readonly claims: Claims;
  /** Repeats what could not be recorded. */
  readonly retries: RetryQueue;
  /** Milliseconds that a run which waits for a person keeps its memory, and its caller waits for it. */
  readonly holdMs: number;
  /** From its cancellation on, callers do not wait for persons. */
  readonly released: Cancellable;
  /** Answers the callers whose runs wait for a person now or later, because the process is about to end. */
  releaseCallers(): void;
  /** Calls a listener at the beginning of `close`. */
  onClose(listener: () => void): void;
  /** Leaves the runs that wait to other processes, and cancels the others. */
  close(): Promise<void>;
  /** Waits for the ends of the runs, and tries once more to record what could not be recorded. */
  flush(): Promise<void>;
}

interface RecordServicesOptions {
  readonly settings: RuntimeSettings["runs"];
  /** True if the store outlives the process. */
  readonly isDurable: boolean;
  readonly database: LazyDatabase;
  readonly getPolicy: RunServices["getPolicy"];
  /** Another process that makes calls with accounts looks for them in the records of runs. */
  readonly credentials: { readonly accounts: UsableAccounts; readonly getElsewhere: () => unknown };
  readonly log: LogListener;
}

/** Creates the services of runs with a record. */
export function createRunServices(
  options: RecordServicesOptions,
): Pick<RunServices, "records" | "accounts" | "listApprovals" | "openRuns" | "findRights"> {
  return {
    accounts: options.credentials.accounts,
    records: createRecordServices(options),
    openRuns: () => options.database.open(),
    findRights: (caller, by) => findRights(caller, () => options.database.open(), by),
    async listApprovals(runId) {
      const { approvals } = await options.database.open();
      return (await approvals.listOfRun(runId)).filter(({ state }) => state === "pending");
    },
  };
}

/** Runs that have ended and stay in a store in memory. */
const MAX_ENDED_IN_MEMORY = 1_000;

/** Returns the function that counts a run that has ended, and deletes the one that ended longest ago if there are too many. */
function createBound(database: LazyDatabase, warn: (text: string) => void): (id: string) => void {
  const ended: string[] = [];
  return (id) => {
    ended.push(id);
    const oldest = ended.length > MAX_ENDED_IN_MEMORY ? ended.shift() : undefined;
    if (oldest === undefined) return;
    database
      .open()
      .then(({ runs }) => runs.delete(oldest))
      .catch((error: unknown) => warn(`Cannot delete run ${oldest}: ${getMessage(error)}`));
  };
}

/** True for a program whose run is recorded from its beginning. */
function needsRecord(
  run: CheckedRun,
  request: RunRequest,
  { settings, getPolicy, credentials }: RecordServicesOptions,
): boolean {
  if (settings.record !== "effects") return settings.record === "full";
  return (
    mustRecord(run, request, getPolicy()) || (credentials.getElsewhere() !== undefined && usesAccounts(run, request))
  );
}

/** True for a program with a method that uses an account, or a saved one, which may call such a method. */
function usesAccounts({ program }: CheckedRun, { catalog }: RunRequest): boolean {
  return program.paths.some((path) => {
    const method = catalog.method(path);
    const isSaved = method && catalog.skill(method.skill)?.provided.saved !== undefined;
    return isSaved === true || method?.definition.accounts !== undefined;
  });
}

function createRecordServices(options: RecordServicesOptions): RecordServices {
  const { settings, isDurable, database, log } = options;
  const { accounts } = options.credentials;
  const open = new Map<string, OpenRun>();
  const closeListeners: (() => void)[] = [];
  let running: readonly Promise<Outcome>[] = [];
  const released = new Cancellation();
  const keepsAll = settings.record === "full";
  const warn = (text: string): void => log("warn", text);
  const retries = createRetryQueue({
    onFailure: (work, error) => warn(`Cannot ${work}: ${getMessage(error)}`),
  });
  database.health.onChange((failure) => failure === undefined && retries.repeatNow());
  const claims = createClaims(() => database.open(), retries, {
    warn: (error) => warn(`Cannot renew the claims on runs: ${getMessage(error)}`),
  });
  const refusals = createRefusalRecorder({ open: () => database.open(), keepsAll: keepsAll && isDurable, warn });
  const bound = isDurable ? () => {} : createBound(database, warn);
  const common = {
    open: () => database.open(),
    claims,
    retries,
    keepsAll,
    isDurable,
    onEnd(id: string, isStored: boolean) {
      open.delete(id);
      if (isStored) bound(id);
    },
  };

  return {
    create(run, request, continued) {
      if (continued === undefined && !needsRecord(run, request, options)) return undefined;
      return new RunRecorder({ ...common, id: run.runId, header: createHeader(run, request, { continued, accounts }) });
    },
    continue: ({ id, created }, record) => new RunRecorder({ ...common, id, header: record.header, record, created }),
    recent: createRecentRuns(),
    addRefused: (program) => settings.record !== "off" && refusals.add(program),
    open,
    waited: new Set(),
    claims,
    retries,
    holdMs: settings.holdMs,
    released,
    releaseCallers: () => released.cancel(),
    onClose: (listener) => void closeListeners.push(listener),
    async close() {
      for (const listener of closeListeners.splice(0)) listener();
      const runs = [...open.values()];
      const waiting = runs.filter(({ recorder }) => recorder.isWaiting);
      await Promise.all(waiting.map(({ recorder }) => recorder.leave()));
      for (const run of runs) run.cancel();
      running = runs.map(({ settled }) => settled);
    },
    async flush() {
      await Promise.allSettled(running);
      await refusals.flush();
      await retries.close();
      await claims.close();
    },
  };
}

/** True if a run can have an effect, or wait for a person. */
function mustRecord(
  { program }: CheckedRun,
  { catalog }: RunRequest,
  policy: ReturnType<RunServices["getPolicy"]>,
): boolean {
  return program.paths.some((path) => {
    const method = catalog.method(path);
    if (method === undefined) return false;
    const parts =
      catalog.skill(method.skill)?.parts.filter(({ definition }) => definition.partOf === method.name) ?? [];
    return !method.metadata.readOnly || [method, ...parts].some((each) => policy.getRule(each).approval !== "none");
  });
}
