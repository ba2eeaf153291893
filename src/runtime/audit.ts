import { getMessage, sentence, SkillgateError } from "../errors.ts";
import type { Problem } from "../model/provider.ts";
import { type AuditWriter, createAuditWriter, type LazyDatabase } from "../store/index.ts";
import type { LogListener } from "./options.ts";
import type { RuntimeSettings } from "./settings/runtime-settings.ts";

/** Stores the records of a runtime: the decisions on its calls, and their ends. */
export interface RuntimeAudit {
  readonly writer: AuditWriter;
  /** Waits until the records of the effects of a run are committed. A failure is logged: the calls have been made. */
  commitEffects(runId: string): Promise<void> | undefined;
  /** Opens the store of a server before the first call, and deletes old records now and once a day. */
  open(): Promise<readonly Problem[]>;
  close(): Promise<void>;
}

const SWEEP_EVERY_MS = 86_400_000;

/**
 * Returns `undefined` if the runtime stores no records. Throws `OPTION_INVALID` without a place for them, which a runtime
 * in memory lacks.
 */
export function createAudit(
  { audit, retention, database: { folder, url } }: Pick<RuntimeSettings, "audit" | "retention" | "database">,
  database: LazyDatabase,
  log: LogListener,
): RuntimeAudit | undefined {
  if (audit !== "store") return undefined;
  if (folder === undefined && url === undefined)
    throw new SkillgateError("OPTION_INVALID", sentence("OPTION_INVALID", "audit: store needs store, a folder"));
  const warn = (error: unknown): void => log("warn", `Cannot store audit records: ${getMessage(error)}`);
  const writer = createAuditWriter(async () => (await database.open()).audit, warn);
  let timer: NodeJS.Timeout | undefined;
  let sweeping: Promise<unknown> = Promise.resolve();
  const sweep = (): void => {
    const swept = database.open().then((opened) => opened.sweep(retention));
    sweeping = swept.catch((error: unknown) => log("warn", `Cannot delete old records: ${getMessage(error)}`));
  };
  return {
    writer,
    commitEffects: (runId) => writer.flushEffects(runId)?.catch(warn),
    async open() {
      timer = setInterval(sweep, SWEEP_EVERY_MS).unref();
      try {
        await writer.flush();
        sweep();
        return [];
      } catch (error) {
        return [{ source: "store", error: getMessage(error), isForAllRuns: true }];
      }
    },
    async close() {
      clearInterval(timer);
      await Promise.all([writer.close().catch(warn), sweeping]);
    },
  };
}
