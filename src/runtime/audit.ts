import { createError, getMessage } from "../errors.ts";
import { type AuditWriter, createAuditWriter, type LazyDatabase } from "../store/index.ts";
import type { LogListener } from "./options.ts";
import type { RuntimeSettings } from "./settings/runtime-settings.ts";

/** Stores the records of a runtime: the decisions on its calls, and their ends. */
export interface RuntimeAudit {
  readonly writer: AuditWriter;
  /** Waits until the records of the effects of a run are committed. A failure is logged: the calls have been made. */
  commitEffects(runId: string): Promise<void> | undefined;
  /** Opens the store of a server before the first call. The health of the store says whether that failed. */
  open(): Promise<void>;
  close(): Promise<void>;
}

/**
 * Returns `undefined` if the runtime stores no records. Throws `OPTION_INVALID` without a place for them, which a runtime
 * in memory lacks.
 */
export function createAudit(
  { audit, database: { folder, url } }: Pick<RuntimeSettings, "audit" | "database">,
  database: LazyDatabase,
  log: LogListener,
): RuntimeAudit | undefined {
  if (audit !== "store") return undefined;
  if (folder === undefined && url === undefined)
    throw createError("OPTION_INVALID", "audit: store needs store, a folder");
  const warn = (error: unknown): void => log("warn", `Cannot store audit records: ${getMessage(error)}`);
  const writer = createAuditWriter(async () => (await database.open()).audit, warn);
  // Records that could not be committed are committed when the store works again, without waiting for another one.
  database.health.onChange((failure) => failure === undefined && void writer.flush().catch(warn));
  return {
    writer,
    commitEffects: (runId) => writer.flushEffects(runId)?.catch(warn),
    open: () => writer.flush().catch(() => {}),
    close: () => writer.close().catch(warn),
  };
}
