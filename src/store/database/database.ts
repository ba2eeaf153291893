import { type AccountTable, createAccountTable } from "../tables/accounts.ts";
import { type ApprovalTable, createApprovalTable } from "../tables/approvals.ts";
import { type AutomationTable, createAutomationTable } from "../tables/automations.ts";
import { AUDIT, readAuditRows } from "../audit/rows.ts";
import { type AuditStore, createAuditStore } from "../audit/audit-store.ts";
import { createAuditKeys } from "../audit/audit-keys.ts";
import { type CounterTable, createCounterTable } from "../tables/counters.ts";
import { createKeyTable, type KeyTable } from "../tables/keys.ts";
import { createProcessTable, type ProcessTable } from "../tables/processes.ts";
import { createProgramValueTable, type ProgramValueTable } from "../tables/program-values.ts";
import { createRunTable, type RunTable } from "../tables/runs.ts";
import { openEngine, type EngineOptions, type StoreLocation } from "./open.ts";
import { SCHEMA_VERSION, TABLES } from "./schema.ts";
import { COUNTERS } from "../tables/counters.ts";
import { type HealthRecord, reportHealth } from "../health.ts";
import { DEFAULT_RETENTION } from "../retention.ts";
import { type Retention, sweep, type SweepResult } from "./sweep.ts";
import type { StoreEngine } from "./table.ts";

/** Everything that outlives a call, in one database that several processes use at once. */
export interface Database extends AsyncDisposable {
  readonly kind: "sqlite" | "postgres" | "memory";
  /** The file, or the URL without its password; empty for a store in memory. */
  readonly place: string;
  readonly keys: KeyTable;
  readonly counters: CounterTable;
  readonly approvals: ApprovalTable;
  readonly audit: AuditStore;
  readonly runs: RunTable;
  readonly processes: ProcessTable;
  readonly accounts: AccountTable;
  readonly automations: AutomationTable;
  readonly programValues: ProgramValueTable;
  /** Calls `listener` soon after a change by any process; returns the function that ends the calls. */
  watch(listener: () => void): () => void;
  info(): Promise<DatabaseInfo>;
  /** All rows of all tables, one object for each. */
  export(): AsyncIterable<{ readonly table: string; readonly row: object }>;
  /** Deletes records that are older than their kind is kept. */
  sweep(retention?: Partial<Retention>, now?: number): Promise<SweepResult>;
  /** Commits a row, to find out whether the store works. */
  tryCommit(): Promise<void>;
  /** Gives the space of deleted rows back to the file system. */
  vacuum(): Promise<void>;
  close(): Promise<void>;
}

export interface DatabaseInfo {
  readonly kind: Database["kind"];
  readonly place: string;
  /** The database program and its version. */
  readonly program: string;
  readonly schema: number;
  readonly bytes: number;
  /** Numbers of rows by table. */
  readonly rows: Readonly<Record<string, number>>;
}

export async function createDatabase(
  location: StoreLocation,
  options: EngineOptions,
  health?: HealthRecord,
): Promise<Database> {
  const opened = await openEngine(location, options);
  const engine = health === undefined ? opened : reportHealth(opened, health);
  const audit = createAuditStore(engine, createAuditKeys(engine.kind === "memory" ? undefined : location.folder));
  const close = async (): Promise<void> => {
    try {
      await audit.close();
    } finally {
      await engine.close();
    }
  };
  return {
    kind: engine.kind,
    place: engine.place,
    keys: createKeyTable(engine),
    counters: createCounterTable(engine),
    approvals: createApprovalTable(engine),
    audit,
    runs: createRunTable(engine),
    processes: createProcessTable(engine),
    accounts: createAccountTable(engine),
    automations: createAutomationTable(engine),
    programValues: createProgramValueTable(engine),
    watch: (listener) => engine.watch(listener),
    info: () => readInfo(engine),
    export: () => exportRows(engine),
    sweep: (retention, now = Date.now()) => sweep(engine, audit, { ...DEFAULT_RETENTION, ...retention }, now),
    tryCommit: () => engine.put(COUNTERS, { bucket: "health", start: 0, count: 0, expires: 0 }),
    vacuum: () => engine.vacuum(),
    close,
    [Symbol.asyncDispose]: close,
  };
}

async function readInfo(engine: StoreEngine): Promise<DatabaseInfo> {
  const { bytes, program } = await engine.size();
  const rows: Record<string, number> = {};
  for (const table of TABLES) rows[table.name] = await engine.total(table);
  return { kind: engine.kind, place: engine.place, program, schema: SCHEMA_VERSION, bytes, rows };
}

async function* exportRows(engine: StoreEngine): AsyncGenerator<{ readonly table: string; readonly row: object }> {
  for (const table of TABLES) {
    const list = table.name === AUDIT.name ? readAuditRows(engine) : await engine.select(table, {});
    for await (const row of list) yield { table: table.name, row };
  }
}
