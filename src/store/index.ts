import { existsSync } from "node:fs";
import { join } from "node:path";

import { createError } from "../errors.ts";
import { DEFAULT_TIMEOUTS } from "../model/timeouts.ts";
import type { ExportVerdict } from "./audit/export.ts";
import type { RestoredStore, StoreBackup } from "./backup.ts";
import type { Database } from "./database/database.ts";
import type { EngineOptions, StoreLocation } from "./database/open.ts";
import { createHealth, type HealthRecord, type StoreFailure, type StoreHealth } from "./health.ts";
import { type ClosableSpace, fileSpace } from "./file-space.ts";
import { Texts } from "./texts.ts";

export { type AuditWriter, createAuditWriter } from "./audit/writer.ts";
export type { AuditRecord } from "./audit/chain.ts";
export type { AuditRow } from "./audit/rows.ts";
export type { ExportVerdict } from "./audit/export.ts";
export type { AuditVerdict } from "./audit/verify.ts";
export type { Database, DatabaseInfo } from "./database/database.ts";
export { waitForChange } from "./wait-for-change.ts";
export type { StoreFailure, StoreHealth };
export type { StoreLocation } from "./database/open.ts";
export type { Retention } from "./database/sweep.ts";
export { DEFAULT_RETENTION, type RetentionSchedule, scheduleRetention } from "./retention.ts";
export { type AccountFlowRow, type AccountRow, type AccountTable, SERVER_LOGIN } from "./tables/accounts.ts";
export {
  APPROVAL_STATES,
  type ApprovalFacts,
  type ApprovalRow,
  type ApprovalState,
  type NewApproval,
  UNANSWERED,
} from "./tables/approvals.ts";
export {
  type AcceptedVersion,
  type AutomationRow,
  type OccurrenceKind,
  type OccurrenceRow,
  OPEN_STATES,
} from "./tables/automation-rows.ts";
export type { AutomationTable, OccurrenceChange, OpenOccurrences } from "./tables/automations.ts";
export type { AddedDelivery, DeliveryToAdd } from "./tables/deliveries.ts";
export { getProcessName, hasEnded } from "./process-name.ts";
export { type CountersInTurn, getCallerBucket, getPartMs, NOTED_PART_MS } from "./tables/counters.ts";
export type { KeyRow } from "./tables/keys.ts";
export { type ProgramSpace, type SpaceState, toSpaceId } from "./tables/program-values.ts";
export {
  callsMethod,
  createRunComparison,
  matchesRun,
  type RunEntryRow,
  type RunOrder,
  type RunRow,
  type RunSorting,
  type RunStatus,
} from "./tables/runs.ts";

/**
 * Opens the database of keys, approvals, counters and the audit log. Throws a `SkillgateError` with a code `STORE_…` if it
 * cannot be used. The drivers are imported only here, so a process that opens no database loads none.
 */
export async function openDatabase(
  location: StoreLocation,
  { lockMs = DEFAULT_TIMEOUTS.lockMs, warn = () => {}, ...options }: Partial<EngineOptions> = {},
  health?: HealthRecord,
): Promise<Database> {
  const { createDatabase } = await import("./database/database.ts");
  return createDatabase(location, { lockMs, warn, ...options }, health);
}

/**
 * Checks the lines of an export of the audit log. Accepts the keys `signers`, or else those in `folder`; without any, each key,
 * and then `isKnownSigner` is false.
 */
export async function verifyAuditExport(
  lines: AsyncGenerator<string>,
  { signers, folder }: { readonly signers?: ReadonlySet<string>; readonly folder?: string },
): Promise<{ readonly verdict: ExportVerdict; readonly isKnownSigner: boolean }> {
  const [{ verifyExport }, { readSignerIds }] = await Promise.all([
    import("./audit/export.ts"),
    import("./audit/signer.ts"),
  ]);
  const expected = signers ?? (folder === undefined ? new Set<string>() : await readSignerIds(folder));
  return { verdict: await verifyExport(lines, expected), isKnownSigner: expected.size > 0 };
}

/** Reads the public keys of a file such as `audit-keys.pub.pem`, for `verify`. */
export async function readPublicKeys(file: string): Promise<ReadonlySet<string>> {
  const [{ readFile }, { parsePublicKeys }] = await Promise.all([
    import("node:fs/promises"),
    import("./audit/signer.ts"),
  ]);
  return new Set(parsePublicKeys(await readFile(file, "utf8")));
}

/** Returns true for the URL of a database, and for a folder with a file of the store. */
export async function hasDatabase({ folder, url }: StoreLocation): Promise<boolean> {
  if (url !== undefined) return true;
  const { STORE_FILE } = await import("./database/open.ts");
  return folder !== undefined && existsSync(join(folder, STORE_FILE));
}

/** See `open.ts`, which is imported only here. */
export async function whyNotKept(location: StoreLocation): Promise<string | undefined> {
  return (await import("./database/open.ts")).whyNotKept(location);
}

/** See `backup.ts`, which is imported only here. */
export async function backUpStore(folder: string, out: string): Promise<StoreBackup> {
  return (await import("./backup.ts")).backUpStore(folder, out);
}

/** See `backup.ts`, which is imported only here. */
export async function restoreStore(folder: string, backup: string): Promise<RestoredStore> {
  return (await import("./backup.ts")).restoreStore(folder, backup);
}

/** A database that is opened when it is first needed. */
export interface LazyDatabase {
  /** Always returns the same database; tries again after a failure. Rejects with `STORE_UNAVAILABLE` once it was closed. */
  open(): Promise<Database>;
  /** Whether the database can be opened, and commits. */
  readonly health: StoreHealth;
  /** Closes the database if it was opened. */
  close(): Promise<void>;
}

/** `onOpen` is called each time that the database was opened. */
export function createLazyDatabase(
  location: StoreLocation,
  options: Partial<EngineOptions> = {},
  onOpen: (database: Database) => void = () => {},
): LazyDatabase {
  let opened: Promise<Database> | undefined;
  let isClosed = false;
  const health = createHealth(async () => (await open()).tryCommit());
  function open(): Promise<Database> {
    if (isClosed) return Promise.reject(createError("STORE_UNAVAILABLE", "it was closed"));
    if (opened !== undefined) return opened;
    const opening = openDatabase(location, { ...options, onFailure: (error) => health.fail(error) }, health);
    opening.then(onOpen, (error: unknown) => {
      opened = undefined;
      health.fail(error);
    });
    return (opened = opening);
  }
  return {
    open,
    health,
    async close() {
      isClosed = true;
      health.close();
      const database = await opened?.catch(() => undefined); // it never opened
      await database?.close();
    },
  };
}

/** Creates a space in memory, which ends with the process. */
function memorySpace(): ClosableSpace {
  const texts = new Texts();
  return {
    get: async (key) => texts.get(key),
    async set(key, value) {
      texts.put(key, value);
    },
    delete: async (key) => texts.delete(key),
    entries: async (prefix) => texts.entries(prefix),
    async update(key, change) {
      texts.put(key, change(texts.get(key)));
    },
    change: async (work) => work(texts),
    size: async () => texts.size,
    close: async () => {},
  };
}

/** Values that outlive a call, and with a folder also the runtime. */
export interface Store {
  /** Returns the part of the store with this name. In memory it is always the same object. */
  space(name: string): Space;
  /** Waits for the changes that were made; later ones of a store in a folder reject with `STORE_UNAVAILABLE`. */
  close(): Promise<void>;
}

/** JSON values by key. Returned values are copies. */
export interface Space {
  /** Returns `undefined` for an unknown key. */
  get(key: string): Promise<unknown>;
  set(key: string, value: unknown): Promise<void>;
  /** Returns true if the key existed. */
  delete(key: string): Promise<boolean>;
  /** Returns the entries whose keys begin with a prefix, sorted by key. */
  entries(prefix?: string): Promise<readonly StoreEntry[]>;
  /** Replaces a value by the result of `change`, atomically. */
  update(key: string, change: (value: unknown) => unknown): Promise<void>;
  /** Makes several changes at once: others see all or none of them. `work` must not throw after its first change. */
  change<Result>(work: (content: SpaceContent) => Result): Promise<Result>;
  /** Number of characters of all keys and values. */
  size(): Promise<number>;
}

/** The newest content of a space, while it is changed. */
export interface SpaceContent {
  get(key: string): unknown;
  /** Throws if the value is not JSON. */
  put(key: string, value: unknown): void;
  /** Returns true if the key existed. */
  delete(key: string): boolean;
  /** Number of characters of all keys and values. */
  readonly size: number;
}

export type StoreEntry = readonly [key: string, value: unknown];

/**
 * Creates a store in a folder, which several processes can use at once; without a folder, the store is in memory. The
 * folder is created at the first write. A writer waits up to `lockMs` for the lock of another process.
 */
export function createStore(folder?: string, lockMs: number = DEFAULT_TIMEOUTS.lockMs): Store {
  const spaces = new Map<string, ClosableSpace>();
  let isClosed = false;
  return {
    space(name) {
      const existing = spaces.get(name);
      if (existing !== undefined) return existing;
      const space = folder === undefined ? memorySpace() : fileSpace(getSpaceFile(folder, name), lockMs);
      spaces.set(name, space);
      if (isClosed) void space.close();
      return space;
    },
    async close() {
      isClosed = true;
      await Promise.all([...spaces.values()].map((space) => space.close()));
    },
  };
}

/** Returns the file of a space. Escapes the name: the file stays inside the folder, and no two names share a file. */
export function getSpaceFile(folder: string, name: string): string {
  return join(folder, `${encodeURIComponent(name).replaceAll(".", "%2E").replaceAll("*", "%2A")}.jsonl`);
}
