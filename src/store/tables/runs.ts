import { createComparison, matches } from "../database/memory.ts";
import {
  type Condition,
  defineTable,
  integer,
  listColumn,
  optional,
  type RowOf,
  type SelectOptions,
  type StoreEngine,
  text,
  type Where,
} from "../database/table.ts";

/**
 * `refused`: the program was not executed, because of its check. `waiting`: all that the program waits for are answers of persons. `unknown`: a call had begun when the process ended, and
 * its end is not known.
 */
export type RunStatus = "refused" | "running" | "waiting" | "completed" | "failed" | "cancelled" | "unknown";

/** Facts about one run, for lists. Its record is in `RunEntryRow`s. Times are in milliseconds since 1970. */
export type RunRow = RowOf<typeof RUNS>;

export const RUNS = defineTable({
  name: "runs",
  key: ["id"],
  columns: {
    id: text(),
    /** Id of the caller. */
    caller: text(),
    state: text<RunStatus>(),
    /** The first line of the program, cut. */
    title: text(),
    /** Digest of the text of the program. */
    program: text(),
    created: integer(),
    updated: integer(),
    ended: optional(integer()),
    /** Milliseconds from its beginning to its end; 0 until it has ended. */
    duration: integer(),
    /** The run that this one continues. */
    continues: optional(text()),
    /** Number of calls that have ended. */
    calls: integer(),
    /** Number of those that may have had an effect. */
    effects: integer(),
    /** Size of the record in UTF-16 units. */
    size: integer(),
    /** The process that executes the program, or waits for an answer in it; `null` if none does. */
    claimedBy: optional(text()),
    /** Number of times that it was claimed since it last made progress: a call ended, or a person was asked. */
    attempts: integer(),
  },
  indexes: [
    ["created", "id"],
    ["state", "created", "id"],
    ["caller", "created", "id"],
    ["program", "created", "id"],
    ["duration", "created", "id"],
    ["calls", "created", "id"],
    ["ended"],
  ],
});

/** The columns by which runs can be sorted, each with an index. Equal ones follow by their beginning. */
export type RunOrder = "created" | "duration" | "calls" | "caller" | "state";

export interface RunSorting {
  /** The beginning by default. */
  readonly order?: RunOrder | undefined;
  /** Sorts the smallest value first. */
  readonly ascending?: boolean | undefined;
}

function toColumns({ order = "created" }: RunSorting): readonly (keyof RunRow)[] {
  return [...new Set([order, "created", "id"] as const)];
}

/** True if conditions hold for a run that is not in the database; `callsMethod` always does. */
export function matchesRun(row: RunRow, where: Where<RunRow>): boolean {
  return matches(RUNS, row, where);
}

/** Compares runs as `RunTable.list` sorts them. */
export function createRunComparison(sorting: RunSorting): (a: RunRow, b: RunRow) => number {
  return createComparison<RunRow>(RUNS, { order: toColumns(sorting), descending: sorting.ascending !== true });
}

/** The methods that the programs of runs call. */
export const RUN_METHODS = defineTable({
  name: "runMethods",
  key: ["run", "path"],
  columns: {
    run: text(),
    /** `Skill.method` */
    path: text(),
  },
  indexes: [["path", "run"]],
});

/** The condition on the id of a run that its program calls a method, or one of a skill. */
export function callsMethod(name: string): Condition<string> {
  const path = name.includes(".") ? name : { gt: `${name}.`, lt: `${name}/` }; // the slash is the next character
  return { listedIn: listColumn<RowOf<typeof RUN_METHODS>, "run">(RUN_METHODS, "run", { path }) };
}

/** A part of a record: events that were committed together. */
export type RunEntryRow = RowOf<typeof RUN_ENTRIES>;

export const RUN_ENTRIES = defineTable({
  name: "runEntries",
  key: ["run", "seq"],
  columns: {
    run: text(),
    /** Counts from 0 without gaps. */
    seq: integer(),
    /** JSON of a list of events. */
    events: text(),
    /** SHA-256 of the hash of the entry before and of `events`, hexadecimal. */
    hash: text(),
  },
});

/** Runs and their records. */
export interface RunTable {
  /** Adds a run with the beginning of its record and the methods that its program calls, in one transaction. */
  add(run: RunRow, entry: RunEntryRow, paths?: readonly string[]): Promise<void>;
  /** Adds to a record. Throws `STORE_CONFLICT` if another process has added an entry with this number. */
  append(entry: RunEntryRow): Promise<void>;
  /** Adds to a record and changes the facts of the run, in one transaction. */
  appendAndUpdate(entry: RunEntryRow, changes: Partial<RunRow>): Promise<void>;
  update(id: string, changes: Partial<RunRow>): Promise<void>;
  get(id: string): Promise<RunRow | undefined>;
  /** The newest first by default; the largest value first. */
  list(
    where: Where<RunRow>,
    options?: Pick<SelectOptions<RunRow>, "limit" | "offset"> & RunSorting,
  ): Promise<readonly RunRow[]>;
  /** Returns the run after another one in a list, if there is one. */
  findNext(after: RunRow, where: Where<RunRow>, sorting: RunSorting): Promise<RunRow | undefined>;
  count(where: Where<RunRow>): Promise<number>;
  /** The entries of a record in their order. */
  entries(id: string): Promise<readonly RunEntryRow[]>;
  /** Claims a run that no process holds. Of several processes at once, one succeeds. */
  claim(
    run: Pick<RunRow, "id" | "claimedBy" | "attempts" | "ended">,
    claim: { by: string; now: number },
  ): Promise<boolean>;
  /** Ends the claim of a process on a run that it does not execute. */
  release(id: string, by: string): Promise<void>;
  /** Deletes runs with their records. */
  delete(...ids: readonly string[]): Promise<number>;
  /** Deletes runs that have ended before `time`, with their records, and returns how many these were. */
  prune(time: number): Promise<number>;
}

/** Runs that one statement changes or deletes. */
const RUNS_TOGETHER = 500;

export function createRunTable(engine: StoreEngine): RunTable {
  async function deleteRuns(...ids: readonly string[]): Promise<number> {
    if (ids.length === 0) return 0;
    await engine.delete(RUN_ENTRIES, { run: { in: ids } });
    await engine.delete(RUN_METHODS, { run: { in: ids } });
    return engine.delete(RUNS, { id: { in: ids } });
  }

  return {
    add: (run, entry, paths = []) =>
      engine.transaction(`run ${run.id}`, async (rows) => {
        await rows.insert(RUNS, [run]);
        await rows.insert(RUN_ENTRIES, [entry]);
        if (paths.length > 0) await rows.insert(RUN_METHODS, toMethodRows(run, paths));
      }),
    append: (entry) => engine.insert(RUN_ENTRIES, [entry]),
    appendAndUpdate: (entry, changes) =>
      engine.transaction(`run ${entry.run}`, async (rows) => {
        await rows.insert(RUN_ENTRIES, [entry]);
        await rows.update(RUNS, { id: entry.run }, changes);
      }),
    update: async (id, changes) => void (await engine.update(RUNS, { id }, changes)),
    get: async (id) => (await engine.select(RUNS, { id }))[0],
    list: (where, { order, ascending, ...part } = {}) =>
      engine.select(RUNS, where, { ...part, order: toColumns({ order }), descending: ascending !== true }),
    async findNext(after, where, { order, ascending = false }) {
      // Among the runs that are equal in all columns but the last first, then in fewer.
      const columns = toColumns({ order });
      for (const [at, column] of [...columns.entries()].toReversed()) {
        const equal = Object.fromEntries(columns.slice(0, at).map((each) => [each, after[each]]));
        const range = ascending ? { gt: after[column] } : { lt: after[column] };
        const narrowed = narrow(where, { ...equal, [column]: range });
        const [next] = await engine.select(RUNS, narrowed, { order: columns, descending: !ascending, limit: 1 });
        if (next !== undefined) return next;
      }
      return undefined;
    },
    count: (where) => engine.total(RUNS, where),
    entries: (id) => engine.select(RUN_ENTRIES, { run: id }, { order: "seq" }),
    async claim({ id, claimedBy, attempts, ended }, { by, now }) {
      // Another claim since the row was read changes the number of attempts, or has ended the run.
      const where = { id, claimedBy, attempts, ended };
      const changes = { claimedBy: by, attempts: attempts + 1, updated: now };
      return (await engine.update(RUNS, where, changes)) > 0;
    },
    release: async (id, by) => void (await engine.update(RUNS, { id, claimedBy: by }, { claimedBy: null })),
    delete: deleteRuns,
    async prune(time) {
      let count = 0;
      for (;;) {
        const old = await engine.select(RUNS, { ended: { lt: time } }, { order: "ended", limit: RUNS_TOGETHER });
        if (old.length === 0) return count;
        count += await deleteRuns(...old.map(({ id }) => id));
      }
    },
  };
}

function toMethodRows(run: RunRow, paths: readonly string[]): readonly RowOf<typeof RUN_METHODS>[] {
  return [...new Set(paths)].map((path) => ({ run: run.id, path }));
}

/** Adds conditions to those on the same columns. */
function narrow(where: Where<RunRow>, conditions: Readonly<Record<string, Condition<unknown>>>): Where<RunRow> {
  const added = Object.entries(conditions).map(([column, condition]) => {
    const own: unknown = where[column as keyof RunRow];
    return [column, own === undefined ? condition : { all: [own, condition] }];
  });
  return { ...where, ...Object.fromEntries(added) };
}
