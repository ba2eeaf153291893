/** Kinds of columns: a text, a whole number that JavaScript represents exactly, or a JSON value that is kept as text. */
export type ColumnKind = "text" | "integer" | "json";

/** A column whose values have a type. */
export interface Column<Value> {
  readonly kind: ColumnKind;
  /** Exists only for the type checker. */
  readonly value?: Value;
}

export function text<Value extends string = string>(): Column<Value> {
  return { kind: "text" };
}

export function integer(): Column<number> {
  return { kind: "integer" };
}

export function json<Value>(): Column<Value> {
  return { kind: "json" };
}

/** Returns a column that may have no value. */
export function optional<Value>({ kind }: Column<Value>): Column<Value | null> {
  return { kind };
}

/** A table. The types of its rows, its SQL and its creation follow from its columns. */
export interface Table<Row> {
  readonly name: string;
  /** The columns of the primary key. */
  readonly key: readonly (keyof Row & string)[];
  readonly columns: { readonly [Name in keyof Row]: Column<Row[Name]> };
  /** The columns of each index. */
  readonly indexes?: readonly (readonly (keyof Row & string)[])[];
}

/** The type of the rows of a table. */
export type RowOf<Description> =
  Description extends Table<infer Row> ? { readonly [Name in keyof Row]: Row[Name] } : never;

/** Returns a table as it is, with the type of its rows. */
export function defineTable<Row>(table: Table<Row>): Table<Row> {
  return table;
}

/** A condition on one column: a value that it equals, or a range; `null` matches columns without a value. */
export type Condition<Value> = Value | Range<Value>;

export interface Range<Value> {
  readonly lt?: Value;
  readonly gt?: Value;
  /** Not empty. */
  readonly in?: readonly Value[];
  /** A part of a text. Upper and lower case of the letters A to Z are the same. */
  readonly contains?: string;
  /** One of the values that rows of another table have. */
  readonly listedIn?: Listing<Value>;
  /** Further conditions that all must hold. */
  readonly all?: readonly Condition<Value>[];
}

/** The values of one column in the rows of a table that match. */
export interface Listing<Value> {
  readonly table: Table<Readonly<Record<string, unknown>>>;
  readonly column: string;
  readonly where: Where<Readonly<Record<string, unknown>>>;
  /** Exists only for the type checker. */
  readonly value?: Value;
}

export function listColumn<Row, Name extends keyof Row & string>(
  table: Table<Row>,
  column: Name,
  where: Where<Row>,
): Listing<Row[Name]> {
  return { table, column, where };
}

/** Conditions that all must hold. Columns of kind `json` cannot be compared. */
export type Where<Row> = { readonly [Column in keyof Row]?: Condition<Row[Column]> };

export interface SelectOptions<Row> {
  /** The column to sort by, or several, of which the later ones order equal rows; the primary key by default. */
  readonly order?: (keyof Row & string) | readonly (keyof Row & string)[];
  /** Sorts the largest value first. */
  readonly descending?: boolean;
  readonly limit?: number;
  /** The number of rows to skip; only with a limit. */
  readonly offset?: number;
}

/** Reads and writes rows. Each operation is atomic. */
export interface Rows {
  /** Adds rows. Throws `STORE_CONFLICT` if a row with one of the keys exists; then no row is added. */
  insert<Row extends object>(table: Table<Row>, rows: readonly NoInfer<Row>[]): Promise<void>;
  /** Adds a row, or replaces the row with the same key. */
  put<Row extends object>(table: Table<Row>, row: NoInfer<Row>): Promise<void>;
  /** Adds a row; if a row with its key exists, adds `row[counter]` to the counter of that row. Returns the counter. */
  count<Row extends object>(
    table: Table<Row>,
    row: NoInfer<Row>,
    counter: keyof NoInfer<Row> & string,
  ): Promise<number>;
  select<Row extends object>(
    table: Table<Row>,
    where: Where<NoInfer<Row>>,
    options?: SelectOptions<NoInfer<Row>>,
  ): Promise<Row[]>;
  /** Returns the number of rows that match; of all rows by default. */
  total<Row extends object>(table: Table<Row>, where?: Where<NoInfer<Row>>): Promise<number>;
  /** Changes the rows that match, and returns how many these were. */
  update<Row extends object>(
    table: Table<Row>,
    where: Where<NoInfer<Row>>,
    changes: Partial<NoInfer<Row>>,
  ): Promise<number>;
  /** Deletes the rows that match, and returns how many these were. */
  delete<Row extends object>(table: Table<Row>, where: Where<NoInfer<Row>>): Promise<number>;
}

/** Runs an operation on the rows of a database. */
export type RowOperation = <Result>(work: (rows: Rows) => Promise<Result>) => Promise<Result>;

/** Returns rows whose operations run through `read` and `write`. */
export function guardRows(read: RowOperation, write: RowOperation = read): Rows {
  return {
    insert: (table, list) => write((rows) => rows.insert(table, list)),
    put: (table, row) => write((rows) => rows.put(table, row)),
    count: (table, row, counter) => write((rows) => rows.count(table, row, counter)),
    select: (table, where, options) => read((rows) => rows.select(table, where, options)),
    total: (table, where) => read((rows) => rows.total(table, where)),
    update: (table, where, changes) => write((rows) => rows.update(table, where, changes)),
    delete: (table, where) => write((rows) => rows.delete(table, where)),
  };
}

/** The size of a store, and of its parts. */
export interface EngineSize {
  readonly bytes: number;
  /** The version of the database program. */
  readonly program: string;
}

/** The name of a lock, or several names. */
export type Locks = string | readonly string[];

/** A database program with the tables of the store. */
export interface StoreEngine extends Rows {
  readonly kind: "sqlite" | "postgres" | "memory";
  /** The file, or the URL without its password; empty for a store in memory. */
  readonly place: string;
  /** Counts how often the database was replaced by another one while it was open: what was read before does not fit it. */
  getGeneration(): number;
  /**
   * Runs `work` in a transaction, and rolls it back if it throws. Transactions with a lock in common run one after the other,
   * also in different processes. `work` uses only the rows that it receives, and waits for nothing else. It may run again after
   * a lost connection; a transaction that inserts rows is committed once.
   */
  transaction<Result>(locks: Locks, work: (rows: Rows) => Promise<Result>): Promise<Result>;
  /** Calls `listener` after another process has changed a table, or this one has called `announce`. */
  watch(listener: () => void): () => void;
  /** Makes the watchers of all processes run. */
  announce(): Promise<void>;
  /**
   * Returns the time in milliseconds since 1970: of the database server, which is one for all processes; of this machine for a
   * file, as all processes that use it are on one machine.
   */
  now(): Promise<number>;
  size(): Promise<EngineSize>;
  /** Gives the space of deleted rows back to the file system. */
  vacuum(): Promise<void>;
  close(): Promise<void>;
}
