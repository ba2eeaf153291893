import { createError, type SkillgateError } from "../../errors.ts";
import { createQueue } from "../../shared/threads/queue.ts";
import { getColumns, isRange, requireColumns } from "./sql.ts";
import {
  guardRows,
  type Listing,
  type Rows,
  type SelectOptions,
  type StoreEngine,
  type Table,
  type Where,
} from "./table.ts";
import { createWatchers } from "./watch.ts";

/** Rows by their keys, as JSON. */
type StoredRows = Map<string, object>;

/** The rows of a transaction before its changes. */
type Changes = { readonly stored: StoredRows; readonly key: string; readonly before: object | undefined }[];

/** Creates an engine whose rows end with the process. */
export function createMemoryEngine(): StoreEngine {
  const tables = new Map<string, StoredRows>();
  let changes: Changes | undefined;
  const rows = createRows(tables, (change) => void changes?.push(change));
  const queued = createQueue();
  const watchers = createWatchers();
  return {
    ...guardRows((work) => queued(() => work(rows))),
    kind: "memory",
    place: "",
    getGeneration: () => 0,
    transaction: (_locks, work) =>
      queued(async () => {
        changes = [];
        try {
          return await work(rows);
        } catch (error) {
          for (const { stored, key, before } of changes.reverse())
            if (before === undefined) stored.delete(key);
            else stored.set(key, before);
          throw error;
        } finally {
          changes = undefined;
        }
      }),
    watch: (listener) => watchers.watch(listener),
    announce: async () => watchers.announce(),
    now: async () => Date.now(),
    size: async () => ({ bytes: 0, program: "memory" }),
    vacuum: async () => {},
    close: async () => {},
  };
}

function createRows(tables: Map<string, StoredRows>, onChange: (change: Changes[number]) => void): Rows {
  const getTable = <Row>({ name }: Table<Row>): StoredRows => {
    const stored = tables.get(name) ?? new Map<string, object>();
    tables.set(name, stored);
    return stored;
  };
  const change = (stored: StoredRows, key: string, row: object | undefined): void => {
    onChange({ stored, key, before: stored.get(key) });
    if (row === undefined) stored.delete(key);
    else stored.set(key, row);
  };
  const find = <Row extends object>(table: Table<Row>, where: Where<Row>): Row[] => {
    requireColumns(table, where);
    const listings = new Map<Listing<unknown>, ReadonlySet<unknown>>();
    const isListed: IsListed = (value, listing) => {
      const { table: other, column, where: condition } = listing;
      const values = listings.get(listing) ?? new Set(find(other, condition).map((row) => row[column]));
      listings.set(listing, values);
      return values.has(value);
    };
    return listCandidates(table, getTable(table), where).filter((row) => matches(table, row, where, isListed));
  };

  return {
    async insert(table, list) {
      const stored = getTable(table);
      const added = new Map(list.map((row) => [getKey(table, row), copyRow(table, row)]));
      if (added.size < list.length || [...added.keys()].some((key) => stored.has(key))) throw conflict(table.name);
      for (const [key, row] of added) change(stored, key, row);
    },
    async put(table, row) {
      change(getTable(table), getKey(table, row), copyRow(table, row));
    },
    async count(table, row, counter) {
      const stored = getTable(table);
      const key = getKey(table, row);
      const count = stored.get(key) as typeof row | undefined;
      const total = Number(count?.[counter] ?? 0) + Number(row[counter]);
      change(stored, key, { ...(count ?? copyRow(table, row)), [counter]: total });
      return total;
    },
    select: async (table, where, how) =>
      find(table, where)
        .sort(createComparison(table, how))
        .slice(how?.offset, how?.limit === undefined ? undefined : (how.offset ?? 0) + how.limit)
        .map((row) => copyRow(table, row)),
    total: async (table, where = {}) => find(table, where).length,
    async update(table, where, changes) {
      const found = find(table, where);
      for (const row of found) change(getTable(table), getKey(table, row), copyRow(table, { ...row, ...changes }));
      return found.length;
    },
    async delete(table, where) {
      const found = find(table, where);
      for (const row of found) change(getTable(table), getKey(table, row), undefined);
      return found.length;
    },
  };
}

/** Returns the row with a key if the conditions name one, else all rows. */
function listCandidates<Row>(table: Table<Row>, stored: StoredRows, where: Where<Row>): Row[] {
  const isOne = table.key.every((column) => where[column] !== undefined && !isRange(where[column]));
  if (!isOne) return [...stored.values()] as Row[];
  const row = stored.get(getKey(table, where as Row)) as Row | undefined;
  return row === undefined ? [] : [row];
}

type IsListed = (value: unknown, listing: Listing<unknown>) => boolean;

/** True if all conditions hold for a row. Those on the rows of other tables hold by default. */
export function matches<Row>(table: Table<Row>, row: Row, where: Where<Row>, isListed: IsListed = () => true): boolean {
  return getColumns(table).every((column) => isMatch(row[column], where[column], isListed));
}

function isMatch(value: unknown, condition: unknown, isListed: IsListed): boolean {
  if (condition === undefined) return true;
  if (!isRange(condition)) return value === condition;
  if (typeof value !== "string" && typeof value !== "number") return false;
  const { lt, gt, in: list, contains, listedIn, all = [] } = condition;
  if (contains !== undefined && !String(value).toLowerCase().includes(contains.toLowerCase())) return false;
  if (listedIn !== undefined && !isListed(value, listedIn)) return false;
  const isInside = isBelow(value, lt) && isBelow(gt, value) && (list?.includes(value) ?? true);
  return isInside && all.every((each) => isMatch(value, each, isListed));
}

/** True also for a limit that is absent. */
function isBelow(value: unknown, limit: unknown): boolean {
  if (value === undefined || limit === undefined) return true;
  return (value as string | number) < (limit as string | number);
}

/** Returns the function that compares rows in an order. */
export function createComparison<Row>(
  table: Pick<Table<Row>, "key">,
  { order = table.key, descending }: Pick<SelectOptions<Row>, "order" | "descending"> = {},
): (a: Row, b: Row) => number {
  const columns = [order].flat() as readonly (keyof Row)[];
  const compare = (a: Row, b: Row): number => {
    const differing = columns.find((column) => a[column] !== b[column]);
    return differing === undefined ? 0 : a[differing] < b[differing] ? -1 : 1;
  };
  return descending ? (a, b) => compare(b, a) : compare;
}

function getKey<Row>(table: Table<Row>, row: Row): string {
  return JSON.stringify(table.key.map((column) => row[column]));
}

/** Copies a row as a database would store it. */
function copyRow<Row extends object>(table: Table<Row>, row: Row): Row {
  const entries = getColumns(table).map((column) => [column, structuredClone(row[column] ?? null)]);
  return Object.fromEntries(entries) as Row;
}

function conflict(table: string): SkillgateError {
  return createError("STORE_CONFLICT", `table ${table}`);
}
