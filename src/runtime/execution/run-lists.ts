import { type Caller, mayAdminister, mayReadAll, OWNER, requireCaller } from "../../model/caller.ts";
import type { Catalog } from "../../model/catalog.ts";
import { mergeRuns, type RecentRun, type RefusedOutcome, restoreOutcome, type RunRecord } from "../../runs/index.ts";
import {
  callsMethod,
  createRunComparison,
  type Database,
  matchesRun,
  type RunRow,
  type RunSorting,
  type RunStatus,
} from "../../store/index.ts";
import { type RecordedRefusal, type RefusalReport, reportRefusals } from "../refusals/report.ts";
import type { RunServices } from "./run-services.ts";
import { isHidden, maySeeRun, seesWhole } from "./rights/view-run.ts";

/** A recorded run, for lists. */
export type RecordedRunFacts = Omit<RunRow, "claimedBy" | "attempts"> & {
  /** True if a process executes the program, or waits in it. */
  readonly isOpen: boolean;
};

export interface RunFilter {
  /** A state, or several of which a run has one. */
  readonly state?: RunStatus | readonly RunStatus[];
  /** Id of the caller of the runs. */
  readonly runCaller?: string;
  /** A part of the first line of the program. */
  readonly title?: string;
  /** A method that the program calls, as `Skill.method`, or the skill of one. */
  readonly method?: string;
  /** Digest of the text of the program, as `program` of a run. */
  readonly program?: string;
  /** Runs that began at this time or later, in milliseconds since 1970, and before `until`. */
  readonly since?: number;
  readonly until?: number;
  /** Runs that have ended, and took at least this number of milliseconds. */
  readonly minDuration?: number;
  /** Adds the newest runs of this process that have no record; their size is 0. */
  readonly withUnrecorded?: boolean;
}

export interface ListOptions extends RunFilter, RunSorting {
  /** 100 by default. */
  readonly limit?: number;
  /** The number of runs to skip. */
  readonly offset?: number;
  /** Lists only the runs of this caller, unless it may see those of others. The owner by default. */
  readonly caller?: Caller;
}

/** The runs beside one in a list; `null` at its ends. */
export interface RunNeighbours {
  readonly previous: string | null;
  readonly next: string | null;
}

/** The lists of runs, as each caller may see them. */
export interface RunLists {
  /**
   * The newest first by default. A title, a method and a program are searched among the own runs only, if methods are hidden from the
   * caller.
   */
  list(options?: ListOptions): Promise<readonly RecordedRunFacts[]>;
  /** Returns the ids of the runs before and after one in a list. Throws `RUN_NOT_FOUND`. */
  neighbours(id: string, options?: Omit<ListOptions, "limit" | "offset">): Promise<RunNeighbours>;
  /** Returns the number of runs that `list` has without a limit. */
  count(options?: RunFilter & Pick<ListOptions, "caller">): Promise<number>;
  /** Groups the refused programs, at most the newest 1,000, by the mistake, and says what would help. */
  refusals(options?: Pick<ListOptions, "caller">): Promise<RefusalReport>;
  get(id: string, options?: Pick<ListOptions, "caller">): Promise<RecordedRunFacts>;
}

export interface RunListsOptions {
  readonly open: () => Promise<Database>;
  readonly services: RunServices;
  readonly getCatalog: (caller: Caller) => Catalog;
}

/** Reads runs and their records. */
export interface RunReader {
  /** Throws `RUN_NOT_FOUND` for a run that does not exist, or not for the caller. */
  find(id: string, caller?: Caller): Promise<RunRow>;
  readonly readEntries: (id: string) => Promise<RunRecord>;
}

const DEFAULT_LIMIT = 100;

export function createRunLists(options: RunListsOptions, reader: RunReader): RunLists {
  const { open } = options;
  const { recent } = options.services.records;
  const listRecent = (where: RunCondition, filter: ListOptions): readonly RunRow[] => {
    if (filter.withUnrecorded !== true) return [];
    const isMatch = ({ row, record }: RecentRun): boolean =>
      matchesRun(row, where) && mayCallMethod(record.header.program.paths, filter.method);
    const rows = recent.list().flatMap((run) => (isMatch(run) ? [run.row] : []));
    return rows.toSorted(createRunComparison(filter));
  };
  const describe = createDescriber(options, reader);

  return {
    async list({ limit = DEFAULT_LIMIT, offset = 0, ...filter } = {}) {
      const { runs } = await open();
      const where = createFilter(filter);
      if (where === undefined) return [];
      const { order, ascending } = filter;
      const unrecorded = listRecent(where, filter);
      const first = Math.max(0, offset - unrecorded.length);
      const part = { limit: limit + unrecorded.length, offset: first };
      const stored = await runs.list(where, { ...part, order, ascending });
      return describe(mergeRuns(stored, unrecorded, { first, offset, limit, order, ascending }), filter.caller);
    },
    async neighbours(id, { order, ascending = false, ...filter } = {}) {
      const { runs } = await open();
      const where = createFilter(filter);
      const unstored = recent.get(id)?.row;
      const isSeen = unstored !== undefined && maySeeRun(requireCaller(filter.caller), unstored);
      const row = isSeen ? unstored : await reader.find(id, filter.caller);
      if (where === undefined) return { previous: null, next: null };
      const find = async (isUpward: boolean): Promise<string | null> => {
        const sorting = { order, ascending: isUpward };
        const compare = createRunComparison(sorting);
        const unrecorded = listRecent(where, { ...filter, ...sorting }).find((each) => compare(row, each) < 0);
        const both = [unrecorded, await runs.findNext(row, where, sorting)].filter((each) => each !== undefined);
        return both.toSorted(compare)[0]?.id ?? null;
      };
      return { previous: await find(!ascending), next: await find(ascending) };
    },
    async count(filter = {}) {
      const { runs } = await open();
      const where = createFilter(filter);
      return where === undefined ? 0 : (await runs.count(where)) + listRecent(where, filter).length;
    },
    refusals: ({ caller = OWNER } = {}) => groupRefusals(options, reader, caller),
    async get(id, { caller } = {}) {
      const [facts] = await describe([await reader.find(id, caller)], caller);
      if (facts === undefined) throw new TypeError("One row has one description");
      return facts;
    },
  };
}

type DescribeRuns = (rows: readonly RunRow[], caller?: Caller) => Promise<readonly RecordedRunFacts[]>;

/** Creates the function that describes runs for a caller, without the titles of those whose content is hidden from it. */
function createDescriber({ services }: RunListsOptions, { readEntries }: RunReader): DescribeRuns {
  const { claims, recent } = services.records;
  return async (rows, caller = OWNER) => {
    const free = await claims.findFree(rows);
    const describeOne = async (row: RunRow): Promise<RecordedRunFacts> => {
      const read = async (): Promise<RunRecord> => recent.get(row.id)?.record ?? readEntries(row.id);
      const isShown = seesWhole(caller, row) || !isHidden(caller, await read());
      return toFacts(isShown ? row : hideContent(row), free);
    };
    const facts: RecordedRunFacts[] = [];
    for (const row of rows) facts.push(await describeOne(row)); // one record in memory, which can have 64 MiB
    return facts;
  };
}

const MAX_REPORTED_REFUSALS = 1_000;

async function groupRefusals(
  { open, getCatalog }: RunListsOptions,
  { readEntries }: RunReader,
  caller: Caller,
): Promise<RefusalReport> {
  const { runs } = await open();
  const where = createFilter({ state: "refused", caller });
  const rows = where === undefined ? [] : await runs.list(where, { limit: MAX_REPORTED_REFUSALS });
  const whole = rows.filter((row) => seesWhole(caller, row));
  const refusals: RecordedRefusal[] = [];
  for (const { id, caller: by, created } of whole) {
    const { outcome } = await readEntries(id);
    const violations = outcome?.kind === "refused" ? (restoreOutcome(outcome) as RefusedOutcome).violations : [];
    refusals.push({ run: id, caller: by, time: created, violations });
  }
  const hidden = rows.length - whole.length;
  return reportRefusals(refusals, { catalog: getCatalog(caller), hidden, now: Date.now() });
}

/** Returns `undefined` if no run matches: those of others do not exist for a caller that may not administer the runtime. */
function createFilter({
  state,
  runCaller,
  title,
  method,
  program,
  since,
  until,
  minDuration,
  caller: asker,
}: RunFilter & Pick<ListOptions, "caller">): RunCondition | undefined {
  const caller = requireCaller(asker);
  const revealsContent = title !== undefined || method !== undefined || program !== undefined;
  const seesOthers = mayAdminister(caller, "Read") && (!revealsContent || mayReadAll(caller));
  const owner = seesOthers ? runCaller : caller.id;
  if (runCaller !== undefined && runCaller !== owner) return undefined;
  return {
    ...(state !== undefined && { state: typeof state === "string" ? state : { in: state } }),
    ...(owner !== undefined && { caller: owner }),
    ...(title !== undefined && { title: { contains: title } }),
    ...(method !== undefined && { id: callsMethod(method) }),
    ...(program !== undefined && { program }),
    ...((since !== undefined || until !== undefined) && {
      created: { ...(since !== undefined && { gt: since - 1 }), ...(until !== undefined && { lt: until }) },
    }),
    ...(minDuration !== undefined && { ended: { gt: 0 }, duration: { gt: minDuration - 1 } }),
  };
}

/** The same as `callsMethod` for a program that the database does not have. */
function mayCallMethod(paths: readonly string[], name: string | undefined): boolean {
  return name === undefined || paths.some((path) => path === name || path.startsWith(`${name}.`));
}

type RunCondition = Parameters<Database["runs"]["count"]>[0];

/** Describes a run; `free` has those that no process executes. */
export function toFacts(row: RunRow, free: ReadonlySet<RunRow>): RecordedRunFacts {
  const { claimedBy: _claimedBy, attempts: _attempts, ...facts } = row;
  return { ...facts, isOpen: !free.has(row) };
}

/** Removes what says something about the program. */
export function hideContent(row: RunRow): RunRow {
  return { ...row, title: "", program: "" };
}
