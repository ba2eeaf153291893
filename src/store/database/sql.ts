import type { ColumnKind, Listing, Range, Rows, SelectOptions, Table, Where } from "./table.ts";

/** A statement with `?` for each parameter. */
export interface SqlStatement {
  readonly text: string;
  readonly parameters: readonly SqlValue[];
  readonly returnsRows?: boolean;
}

export type SqlValue = string | number | null;

/** A row as a database driver returns it. */
export type SqlRow = Readonly<Record<string, unknown>>;

/** Returns the name of a column or a table in SQL: `lastUsed` is `last_used`. */
export function toSqlName(name: string): string {
  let sqlName = SQL_NAMES.get(name);
  if (sqlName === undefined) {
    sqlName = name.replaceAll(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);
    SQL_NAMES.set(name, sqlName);
  }
  return sqlName;
}

/** Each value of each row needs the name of its column. The names are those of the tables: there are few. */
const SQL_NAMES = new Map<string, string>();

/** The number of changed rows, and the rows that a statement returns. */
export interface SqlResult {
  readonly count: number;
  readonly rows: readonly SqlRow[];
}

/** A part of the rows of a table: those that follow each other in an order, as an index has them. */
export interface RowSlice<Row> {
  /** Conditions on the rows that are counted. */
  readonly within: Where<Row>;
  /** Columns with a value in each row, which no two rows have in common. */
  readonly order: readonly (keyof Row & string)[];
  readonly descending: boolean;
  /** The values of the order in the row before the first; by default, the slice is the first one. */
  readonly after?: readonly SqlValue[];
  /** The most rows. */
  readonly rows: number;
}

/** Rows of which a slice can be read. */
export interface SqlRows extends Rows {
  select<Row extends object>(
    table: Table<Row>,
    where: Where<NoInfer<Row>>,
    options?: SqlSelectOptions<NoInfer<Row>>,
  ): Promise<Row[]>;
  total<Row extends object>(
    table: Table<Row>,
    where?: Where<NoInfer<Row>>,
    slice?: RowSlice<NoInfer<Row>>,
  ): Promise<number>;
  /** Returns the values of the order in the last row of a slice; `undefined` if no row follows it. */
  findEnd<Row extends object>(table: Table<Row>, slice: RowSlice<Row>): Promise<readonly SqlValue[] | undefined>;
}

interface SqlSelectOptions<Row> extends SelectOptions<Row> {
  readonly slice?: RowSlice<Row>;
}

/** Returns rows that are read and written by statements. One statement adds at most `maxParameters` values. */
export function createSqlRows(run: (statement: SqlStatement) => Promise<SqlResult>, maxParameters: number): SqlRows {
  return {
    async insert(table, list) {
      const size = Math.floor(maxParameters / getColumns(table).length);
      for (let at = 0; at < list.length; at += size) {
        const part = list.slice(at, at + size);
        await run({
          text: insertText(table, part.length),
          parameters: part.flatMap((row) => toSqlValues(table, row)),
        });
      }
    },
    async put(table, row) {
      await run({ text: putText(table), parameters: toSqlValues(table, row) });
    },
    async count(table, row, counter) {
      const parameters = toSqlValues(table, row);
      const { rows } = await run({ text: countText(table, counter), parameters, returnsRows: true });
      return Number(rows[0]?.[toSqlName(counter)]);
    },
    select: async (table, where, options) =>
      (await run(selectStatement(table, where, options))).rows.map((row) => fromSqlRow(table, row)),
    total: async (table, where, slice) => Number((await run(totalStatement(table, where, slice))).rows[0]?.["total"]),
    async findEnd(table, slice) {
      const [end] = (await run(endStatement(table, slice))).rows;
      return end && slice.order.map((column) => end[toSqlName(column)] as SqlValue);
    },
    update: async (table, where, changes) => (await run(updateStatement(table, where, changes))).count,
    delete: async (table, where) => (await run(deleteStatement(table, where))).count,
  };
}

function insertText<Row>(table: Table<Row>, rows = 1): string {
  const texts = INSERT_TEXTS.get(table) ?? [];
  INSERT_TEXTS.set(table, texts);
  return (texts[rows] ??= createInsertText(table, rows));
}

/** The statements of each table by their number of rows. */
const INSERT_TEXTS = new WeakMap<object, string[]>();

function createInsertText<Row>(table: Table<Row>, rows: number): string {
  const columns = getColumns(table).map(toSqlName);
  const values = `(${columns.map(() => "?").join(", ")})`;
  return `INSERT INTO ${toSqlName(table.name)} (${columns.join(", ")}) VALUES ${Array(rows).fill(values).join(", ")}`;
}

/** SqlStatement of `put`: every column that is not in the key is replaced. */
function putText<Row>(table: Table<Row>): string {
  const others = getColumns(table).filter((column) => !table.key.includes(column));
  const changes = others.map(toSqlName).map((column) => `${column} = excluded.${column}`);
  return `${insertText(table)} ON CONFLICT (${getKey(table)}) DO UPDATE SET ${changes.join(", ")}`;
}

function countText<Row>(table: Table<Row>, counter: keyof Row & string): string {
  const [name, column] = [toSqlName(table.name), toSqlName(counter)];
  const added = `${column} = ${name}.${column} + excluded.${column}`;
  return `${insertText(table)} ON CONFLICT (${getKey(table)}) DO UPDATE SET ${added} RETURNING ${column}`;
}

function selectStatement<Row>(
  table: Table<Row>,
  where: Where<Row>,
  { order, descending = false, limit, offset = 0, slice }: SqlSelectOptions<Row> = {},
): SqlStatement {
  const source = createSource(table, slice);
  const condition = whereClause(table, where);
  const columns = getColumns(table).map(toSqlName).join(", ");
  const sorted = formatOrder([order ?? table.key].flat(), descending);
  const most = limit === undefined ? "" : ` LIMIT ${Math.floor(limit)} OFFSET ${Math.floor(offset)}`;
  const text = `SELECT ${columns} FROM ${source.text}${condition.text} ORDER BY ${sorted}${most}`;
  return { text, parameters: [...source.parameters, ...condition.parameters], returnsRows: true };
}

function totalStatement<Row>(table: Table<Row>, where: Where<Row> = {}, slice?: RowSlice<Row>): SqlStatement {
  const source = createSource(table, slice);
  const condition = whereClause(table, where);
  const text = `SELECT count(*) AS total FROM ${source.text}${condition.text}`;
  return { text, parameters: [...source.parameters, ...condition.parameters], returnsRows: true };
}

/** The table, or a slice of it under the same name. The limit keeps SQLite from joining the slice with the statement around it. */
function createSource<Row>(table: Table<Row>, slice: RowSlice<Row> | undefined): SqlStatement {
  const name = toSqlName(table.name);
  if (slice === undefined) return { text: name, parameters: [] };
  const rows = sliceRows(table, slice);
  return { text: `(SELECT * FROM ${rows.text} LIMIT ${slice.rows}) AS ${name}`, parameters: rows.parameters };
}

function endStatement<Row>(table: Table<Row>, slice: RowSlice<Row>): SqlStatement {
  const { text, parameters } = sliceRows(table, slice);
  const columns = slice.order.map(toSqlName).join(", ");
  return {
    text: `SELECT ${columns} FROM ${text} LIMIT 1 OFFSET ${slice.rows - 1}`,
    parameters,
    returnsRows: true,
  };
}

/** The rows from the beginning of a slice on, in its order. */
function sliceRows<Row>(table: Table<Row>, { within, order, descending, after }: RowSlice<Row>): SqlStatement {
  const condition = whereClause(table, within);
  const comparison = `(${order.map(toSqlName).join(", ")}) ${descending ? "<" : ">"} (${order.map(() => "?").join(", ")})`;
  const from = after === undefined ? "" : `${condition.text === "" ? " WHERE" : " AND"} ${comparison}`;
  return {
    text: `${toSqlName(table.name)}${condition.text}${from} ORDER BY ${formatOrder(order, descending)}`,
    parameters: [...condition.parameters, ...(after ?? [])],
  };
}

function formatOrder(columns: readonly string[], descending: boolean): string {
  return columns.map((column) => (descending ? `${toSqlName(column)} DESC` : toSqlName(column))).join(", ");
}

function updateStatement<Row>(table: Table<Row>, where: Where<Row>, changes: Partial<Row>): SqlStatement {
  const columns = getColumns(table).filter((column) => changes[column] !== undefined);
  const condition = whereClause(table, where);
  const set = columns.map((column) => `${toSqlName(column)} = ?`).join(", ");
  const values = columns.map((column) => toSqlValue(table.columns[column].kind, changes[column]));
  return {
    text: `UPDATE ${toSqlName(table.name)} SET ${set}${condition.text}`,
    parameters: [...values, ...condition.parameters],
  };
}

function deleteStatement<Row>(table: Table<Row>, where: Where<Row>): SqlStatement {
  const condition = whereClause(table, where);
  return { text: `DELETE FROM ${toSqlName(table.name)}${condition.text}`, parameters: condition.parameters };
}

/** Returns the values of a row in the order of the columns. */
function toSqlValues<Row extends object>(table: Table<Row>, row: Row): SqlValue[] {
  return getColumns(table).map((column) => toSqlValue(table.columns[column].kind, row[column]));
}

function fromSqlRow<Row>(table: Table<Row>, row: SqlRow): Row {
  const read: Record<string, unknown> = {};
  for (const { column, name, isJson } of getSqlColumns(table)) {
    const value = row[name] ?? null;
    read[column] = isJson && typeof value === "string" ? JSON.parse(value) : value;
  }
  return read as Row;
}

interface SqlColumn {
  readonly column: string;
  readonly name: string;
  readonly isJson: boolean;
}

/** The columns of each table, which are not found again for each row. */
const SQL_COLUMNS = new WeakMap<object, readonly SqlColumn[]>();

function getSqlColumns<Row>(table: Table<Row>): readonly SqlColumn[] {
  const columns =
    SQL_COLUMNS.get(table) ??
    getColumns(table).map((column) => ({
      column,
      name: toSqlName(column),
      isJson: table.columns[column].kind === "json",
    }));
  SQL_COLUMNS.set(table, columns);
  return columns;
}

export function getColumns<Row>(table: Table<Row>): readonly (keyof Row & string)[] {
  return Object.keys(table.columns) as (keyof Row & string)[];
}

/** Throws for a condition on a column that the table does not have: without it, more rows would match. */
export function requireColumns<Row>({ name, columns }: Table<Row>, where: Where<Row>): void {
  const unknown = Object.keys(where).find((column) => !Object.hasOwn(columns, column));
  if (unknown !== undefined) throw new TypeError(`The table ${name} has no column ${unknown}`);
}

export function isRange(condition: unknown): condition is Range<unknown> {
  return typeof condition === "object" && condition !== null;
}

function getKey<Row>(table: Table<Row>): string {
  return table.key.map(toSqlName).join(", ");
}

function toSqlValue(kind: ColumnKind, value: unknown): SqlValue {
  if (value === undefined || value === null) return null;
  return kind === "json" ? JSON.stringify(value) : (value as SqlValue);
}

function whereClause<Row>(table: Table<Row>, where: Where<Row>): SqlStatement {
  requireColumns(table, where);
  const name = toSqlName(table.name);
  const terms = getColumns(table).flatMap((column) => {
    const condition: unknown = where[column];
    return condition === undefined ? [] : toTerms(`${name}.${toSqlName(column)}`, condition);
  });
  if (terms.length === 0) return { text: "", parameters: [] };
  return {
    text: ` WHERE ${terms.map(({ text }) => text).join(" AND ")}`,
    parameters: terms.flatMap(({ parameters }) => parameters),
  };
}

function toTerms(column: string, condition: unknown): readonly SqlStatement[] {
  if (condition === null) return [{ text: `${column} IS NULL`, parameters: [] }];
  if (!isRange(condition)) return [{ text: `${column} = ?`, parameters: [condition as SqlValue] }];
  const { lt, gt, in: list, contains, listedIn, all = [] } = condition;
  const values = (list ?? []) as readonly SqlValue[];
  return [
    ...(lt === undefined ? [] : [{ text: `${column} < ?`, parameters: [lt as SqlValue] }]),
    ...(gt === undefined ? [] : [{ text: `${column} > ?`, parameters: [gt as SqlValue] }]),
    ...(list === undefined ? [] : [{ text: `${column} IN (${values.map(() => "?").join(", ")})`, parameters: values }]),
    ...(contains === undefined ? [] : [createContainsTerm(column, contains)]),
    ...(listedIn === undefined ? [] : [createListingTerm(column, listedIn)]),
    ...all.flatMap((each) => toTerms(column, each)),
  ];
}

/** Looks into the other table for each row: no list of all its rows is made. */
function createListingTerm(column: string, { table, column: listed, where }: Listing<unknown>): SqlStatement {
  const { text, parameters } = whereClause(table, where);
  const name = toSqlName(table.name);
  const isListed = `${text === "" ? " WHERE" : `${text} AND`} ${name}.${toSqlName(listed)} = ${column}`;
  return { text: `EXISTS (SELECT 1 FROM ${name}${isListed})`, parameters };
}

/** Both databases know the escape, which makes `%` and `_` literal. */
function createContainsTerm(column: string, part: string): SqlStatement {
  const pattern = `%${part.replaceAll(/[\\%_]/g, String.raw`\$&`)}%`;
  return { text: String.raw`lower(${column}) LIKE lower(?) ESCAPE '\'`, parameters: [pattern] };
}
