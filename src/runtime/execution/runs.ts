import type { Cancellable } from "../../../sandbox/index.ts";
import { parseTagged } from "../../../sandbox/index.ts";
import { sentence, SkillgateError } from "../../errors.ts";
import { type Caller, mayAdminister, OWNER } from "../../model/caller.ts";
import type { Outcome } from "../../model/outcome.ts";
import type { RunObserver } from "../../model/run-observer.ts";
import type { Approve } from "../../model/approval.ts";
import { type Ledger, isIncomplete, readLedger, type StoredOutcome } from "../../runs/index.ts";
import { hasEnded } from "../../shared/process-name.ts";
import { describeUnknownName } from "../../shared/suggest.ts";
import { decodeFromGuest } from "../../shared/value-encoding.ts";
import type { Database, RunRow, RunState } from "../../store/index.ts";
import { executeRecorded, waitForRun } from "./execute-recorded.ts";
import { readProgram } from "./run-header.ts";
import type { RunRequest, RunServices } from "./run-snippet.ts";

/** A recorded run, for lists. */
export type RecordedRunFacts = Omit<RunRow, "claimedBy" | "claimedUntil" | "attempts"> & {
  /** True if a process executes the program, or waits in it. */
  readonly isOpen: boolean;
};

export interface ListOptions {
  readonly state?: RunState;
  /** 100 by default. */
  readonly limit?: number;
  /** Lists only the runs of this caller, unless it may administer the runtime. The owner by default. */
  readonly caller?: Caller;
}

export interface ResumeRunOptions {
  /** On whose behalf; the run itself goes on as its own caller. The owner by default. */
  readonly caller?: Caller;
  /** Lets the run call methods that have changed since it began. */
  readonly acceptsChanges?: boolean;
  readonly signal?: AbortSignal | Cancellable;
  readonly observer?: RunObserver;
  readonly approve?: Approve;
}

/** The recorded runs. A caller sees its own, an administrator all; others do not exist for it. */
export interface Runs {
  /** The newest first. */
  list(options?: ListOptions): Promise<readonly RecordedRunFacts[]>;
  get(id: string, options?: Pick<ListOptions, "caller">): Promise<RecordedRunFacts>;
  /** Returns what is recorded of a run. Throws `RUN_NOT_FOUND`, `RUN_DAMAGED`. */
  ledger(id: string, options?: Pick<ListOptions, "caller">): Promise<Ledger>;
  /**
   * Continues a run that no process executes, or waits for one of this process. Resolves to its outcome, or to that it waits for
   * a person. Throws `RUN_NOT_FOUND`, `RUN_BUSY`, `RUN_DAMAGED`, `RUN_INCOMPLETE`.
   */
  resume(id: string, options?: ResumeRunOptions): Promise<Outcome>;
  /** Ends a run. Throws `RUN_NOT_FOUND`, `RUN_BUSY`. */
  cancel(id: string, options?: Pick<ListOptions, "caller">): Promise<void>;
  /** Continues the runs of processes that have ended, now and when their questions are answered; returns the function that stops it. */
  follow(): Promise<() => void>;
}

interface RunsOptions {
  readonly open: () => Promise<Database>;
  readonly services: RunServices;
  readonly createRequest: (options: ResumeRunOptions & Pick<RunRequest, "limits">) => RunRequest;
  readonly warn: (text: string) => void;
  /** Receives the outcome of each run that was continued. */
  readonly onOutcome: (outcome: Outcome) => void;
}

const DEFAULT_LIMIT = 100;

/** A program that ends its process each time is not continued for ever. */
const MAX_ATTEMPTS = 5;

export function createRuns(options: RunsOptions): Runs {
  const { open, services } = options;

  async function find(id: string, caller: Caller = OWNER): Promise<RunRow> {
    const { runs } = await open();
    const row = await runs.get(id);
    if (row !== undefined && mayRead(row, caller)) return row;
    const readable = (await runs.list({}, { limit: DEFAULT_LIMIT })).filter((each) => mayRead(each, caller));
    const ids = readable.map((each) => each.id);
    const { detail, suggestions } = describeUnknownName("run", id, ids);
    throw new SkillgateError("RUN_NOT_FOUND", sentence("RUN_NOT_FOUND", detail), { suggestions });
  }

  async function readEntries(id: string): Promise<Ledger> {
    const { runs } = await open();
    return readLedger(id, await runs.entries(id));
  }

  async function claim(row: RunRow): Promise<void> {
    const { runs } = await open();
    const { claims } = services.ledgers;
    const now = Date.now();
    const isClaimed = isFree(row, now) && (await runs.claim(row, { by: claims.by, until: claims.getEnd(), now }));
    if (!isClaimed) throw new SkillgateError("RUN_BUSY", sentence("RUN_BUSY", `run ${row.id} in ${row.claimedBy}`));
  }

  async function resume(id: string, given: ResumeRunOptions = {}): Promise<Outcome> {
    const row = await find(id, given.caller);
    if (services.ledgers.open.has(id)) return waitForRun(id, services);
    const ledger = await readEntries(id);
    if (ledger.outcome !== undefined) return restoreOutcome(ledger.outcome);
    if (isIncomplete(ledger)) throw new SkillgateError("RUN_INCOMPLETE", sentence("RUN_INCOMPLETE", `run ${id}`));
    await claim(row);
    const recorder = services.ledgers.continue(id, ledger);
    await recorder.claim();
    const { header } = ledger;
    const request = options.createRequest({ ...given, caller: header.caller, limits: header.limits });
    const { source, notes } = header;
    const run = {
      runId: id,
      source,
      notes,
      program: readProgram(header),
      plan: services.inspect(source, request).plan,
    };
    const outcome = await executeRecorded(run, recorder, request, services, {
      isResumed: true,
      acceptsChanges: given.acceptsChanges ?? false,
    });
    options.onOutcome(outcome);
    return outcome;
  }

  return {
    async list({ state, limit = DEFAULT_LIMIT, caller = OWNER } = {}) {
      const { runs } = await open();
      const own = mayAdminister(caller, "read") ? {} : { caller: caller.id };
      const rows = await runs.list({ ...own, ...(state !== undefined && { state }) }, { limit });
      return rows.map(toFacts);
    },
    get: async (id, { caller } = {}) => toFacts(await find(id, caller)),
    async ledger(id, { caller } = {}) {
      await find(id, caller);
      return readEntries(id);
    },
    resume,
    async cancel(id, { caller } = {}) {
      const row = await find(id, caller);
      const here = services.ledgers.open.get(id);
      if (here !== undefined) {
        here.cancel();
        await here.settled;
        return;
      }
      if (row.ended !== null) return;
      await claim(row);
      const { approvals, runs } = await open();
      for (const { id: question, state } of await approvals.listOfRun(id))
        if (state === "pending") await approvals.close(question, "cancelled");
      await runs.update(id, { state: "cancelled", ended: Date.now(), claimedBy: null, claimedUntil: 0 });
    },
    follow: () => followRuns({ ...options, resume }),
  };
}

interface FollowOptions extends RunsOptions {
  readonly resume: Runs["resume"];
}

/** The longest delay of a timer, in milliseconds. */
const MAX_DELAY_MS = 2 ** 31 - 1;

async function followRuns({ open, resume, warn }: FollowOptions): Promise<() => void> {
  const database = await open();
  const active = new Set<string>();
  let timer: NodeJS.Timeout | undefined;
  let isStopped = false;
  let scanning: Promise<void> | undefined;

  const start = (id: string): void => {
    if (active.has(id)) return;
    active.add(id);
    resume(id)
      .catch((error: unknown) => {
        if (!(error instanceof SkillgateError && error.code === "RUN_BUSY"))
          warn(`Cannot continue run ${id}: ${error}`);
      })
      .finally(() => active.delete(id));
  };

  async function scan(): Promise<void> {
    const now = Date.now();
    await database.approvals.expire(now);
    const rows = await database.runs.list({ ended: null });
    for (const row of rows) {
      if (isStopped || !isFree(row, now) || row.attempts >= MAX_ATTEMPTS) continue;
      if (row.state === "running" || (await hasNews(row))) start(row.id);
    }
    const next = (await database.approvals.list("pending")).map(({ expires }) => expires);
    clearTimeout(timer);
    if (isStopped || next.length === 0) return;
    const delay = Math.min(Math.max(...[1_000, Math.min(...next) - now]), MAX_DELAY_MS);
    timer = setTimeout(look, delay).unref();
  }

  /** True if a question of the run was closed after the run was last executed. */
  async function hasNews({ id, updated }: RunRow): Promise<boolean> {
    const questions = await database.approvals.listOfRun(id);
    return questions.length === 0 || questions.some((each) => each.state !== "pending" && getEnd(each) >= updated);
  }

  function look(): void {
    if (isStopped) return;
    scanning ??= scan()
      .catch((error: unknown) => warn(`Cannot look for runs to continue: ${error}`))
      .finally(() => (scanning = undefined));
  }

  const stopWatching = database.watch(look);
  look();
  return () => {
    isStopped = true;
    stopWatching();
    clearTimeout(timer);
  };
}

function getEnd({ answeredAt, expires }: { readonly answeredAt: number | null; readonly expires: number }): number {
  return answeredAt ?? expires;
}

/** True if no process executes the run. */
function isFree({ claimedBy, claimedUntil }: RunRow, now: number): boolean {
  return claimedBy === null || claimedUntil < now || hasEnded(claimedBy);
}

function mayRead(row: RunRow, caller: Caller): boolean {
  return row.caller === caller.id || mayAdminister(caller, "read");
}

function toFacts({ claimedBy, claimedUntil, attempts: _attempts, ...facts }: RunRow): RecordedRunFacts {
  const isOpen = claimedBy !== null && !isFree({ claimedBy, claimedUntil } as RunRow, Date.now());
  return { ...facts, isOpen };
}

/** Restores an outcome that was stored. */
export function restoreOutcome(stored: StoredOutcome): Outcome {
  if (stored.kind !== "completed") return stored as Outcome;
  const value = stored.value === undefined ? undefined : decodeFromGuest(stored.value.json, parseTagged);
  return { ...stored, value } as Outcome;
}
