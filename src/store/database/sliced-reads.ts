import { setImmediate } from "node:timers/promises";

import { isRange, type RowSlice, type SqlRows, type SqlValue } from "./sql.ts";
import type { Rows, SelectOptions, Table, Where } from "./table.ts";

/** Rows that one read looks at. */
const SLICE_ROWS = 5_000;

type ReadRows = <Result>(work: (rows: SqlRows) => Promise<Result>) => Promise<Result>;

/**
 * Returns reads that look at a part of the rows at a time where no index answers all conditions. A statement of SQLite blocks the
 * event loop until it has run; between two parts, other work has its turn.
 */
export function createSlicedReads(read: ReadRows): Pick<Rows, "select" | "total"> {
  return {
    select(table, where, options = {}) {
      const plan = planSelect(table, where, options);
      return plan === undefined
        ? read((rows) => rows.select(table, where, options))
        : selectSliced(read, { table, plan }, options);
    },
    total(table, where = {}) {
      const plan = planTotal(table, where);
      return plan === undefined ? read((rows) => rows.total(table, where)) : countSliced(read, { table, plan });
    },
  };
}

/** How the rows of a table are read in slices: in the order of an index, which answers some of the conditions. */
interface SlicePlan<Row> extends Pick<RowSlice<Row>, "within" | "order" | "descending"> {
  /** The conditions that are tried on each row of a slice. */
  readonly others: Where<Row>;
}

interface SlicedTable<Row> {
  readonly table: Table<Row>;
  readonly plan: SlicePlan<Row>;
}

async function selectSliced<Row extends object>(
  read: ReadRows,
  { table, plan }: SlicedTable<Row>,
  { limit = Number.MAX_SAFE_INTEGER, offset = 0, ...options }: SelectOptions<Row>,
): Promise<Row[]> {
  const found: Row[] = [];
  let skipped = 0;
  await visitSlices(read, { table, plan }, async (rows, slice) => {
    const skips = offset - skipped;
    const matching = skips === 0 ? 0 : await rows.total(table, plan.others, slice);
    skipped += Math.min(skips, matching);
    if (matching < skips) return false;
    const part = { ...options, limit: limit - found.length, offset: skips, slice };
    found.push(...(await rows.select(table, plan.others, part)));
    return found.length >= limit;
  });
  return found;
}

async function countSliced<Row extends object>(read: ReadRows, { table, plan }: SlicedTable<Row>): Promise<number> {
  let total = 0;
  await visitSlices(read, { table, plan }, async (rows, slice) => {
    total += await rows.total(table, plan.others, slice);
    return false;
  });
  return total;
}

/** Calls `readSlice` for one slice after the other, until it returns true. */
async function visitSlices<Row extends object>(
  read: ReadRows,
  { table, plan }: SlicedTable<Row>,
  readSlice: (rows: SqlRows, slice: RowSlice<Row>) => Promise<boolean>,
): Promise<void> {
  let after: readonly SqlValue[] | undefined;
  do {
    const slice: RowSlice<Row> = { ...plan, rows: SLICE_ROWS, ...(after !== undefined && { after }) };
    // The end is found in the same turn, so that no write of this process is between.
    after = await read(async (rows) => ((await readSlice(rows, slice)) ? undefined : rows.findEnd(table, slice)));
    if (after !== undefined) await setImmediate();
  } while (after !== undefined);
}

/** Returns `undefined` if one statement answers: an index has the order and all conditions, or no index has the order. */
function planSelect<Row>(
  table: Table<Row>,
  where: Where<Row>,
  { order = table.key, descending = false }: SelectOptions<Row>,
): SlicePlan<Row> | undefined {
  const columns = [order].flat() as readonly (keyof Row & string)[];
  const plans = listIndexes(table).flatMap((index) => {
    const prefix = index.slice(0, index.length - columns.length);
    const isSorted = columns.every((column, at) => index[prefix.length + at] === column);
    return isSorted && prefix.every((column) => isEqual(where[column])) ? [createPlan(index, where, descending)] : [];
  });
  return choosePlan(plans);
}

/** Returns `undefined` if one statement answers: an index has all conditions, or counts the rows of one column. */
function planTotal<Row>(table: Table<Row>, where: Where<Row>): SlicePlan<Row> | undefined {
  const [column, ...more] = (Object.keys(where) as (keyof Row & string)[]).filter((each) => where[each] !== undefined);
  const isCovered = column !== undefined && more.length === 0 && !isTried(where[column]);
  if (isCovered && table.indexes?.some((index) => index[0] === column) === true) return undefined;
  return choosePlan(listIndexes(table).map((index) => createPlan(index, where, false)));
}

/** The key orders all rows, and so does an index that ends with it. */
function listIndexes<Row>({ key, indexes = [] }: Table<Row>): readonly (readonly (keyof Row & string)[])[] {
  return [...indexes.filter((index) => key.every((column, at) => index.at(at - key.length) === column)), key];
}

/** Conditions on the first columns of an index are answered by it, up to the first that is not an equality. */
function createPlan<Row>(
  index: readonly (keyof Row & string)[],
  where: Where<Row>,
  descending: boolean,
): SlicePlan<Row> & { readonly answered: number } {
  const equal = index.findIndex((column) => !isEqual(where[column]));
  const last = index[equal];
  const isRanged = last !== undefined && where[last] !== undefined && !isTried(where[last]);
  const answered = equal < 0 ? index.length : equal + (isRanged ? 1 : 0);
  const columns = new Set<string>(index.slice(0, answered));
  const pick = (isWithin: boolean): Where<Row> =>
    Object.fromEntries(Object.entries(where).filter(([column]) => columns.has(column) === isWithin)) as Where<Row>;
  return { within: pick(true), others: pick(false), order: index, descending, answered };
}

function choosePlan<Row>(
  plans: readonly (SlicePlan<Row> & { readonly answered: number })[],
): SlicePlan<Row> | undefined {
  const [best] = plans.toSorted((a, b) => b.answered - a.answered);
  return best === undefined || Object.values(best.others).every((each) => each === undefined) ? undefined : best;
}

function isEqual(condition: unknown): boolean {
  return condition !== undefined && !isRange(condition);
}

/** True for a condition that is tried on each row: it is not one range of an index. */
function isTried(condition: unknown): boolean {
  if (!isRange(condition)) return false;
  const { contains, listedIn, in: list, all = [] } = condition;
  return contains !== undefined || listedIn !== undefined || list !== undefined || all.some(isTried);
}
