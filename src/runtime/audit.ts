import { getMessage, sentence, SkillgateError } from "../errors.ts";
import { isRecord } from "../model/json.ts";
import type { Problem } from "../model/provider.ts";
import { type AuditWriter, createAuditWriter, type LazyDatabase } from "../store/index.ts";
import type { LogListener, RuntimeSettings } from "./options.ts";

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

/** The settings of the audit log, and what is wrong with them. */
export interface AuditSettings extends Pick<RuntimeSettings, "audit" | "retention"> {
  readonly problems: readonly Problem[];
}

/** Parses `audit` and `store.keep`; a value that is not valid keeps its default. `option` replaces the setting `audit`. */
export function parseAuditSettings(
  { audit, store }: Readonly<Record<string, unknown>>,
  option: RuntimeSettings["audit"],
): AuditSettings {
  const retention = parseRetention(store);
  const state = audit === false ? "off" : audit;
  const isValid = state === undefined || state === "off" || state === "store";
  return {
    audit: option ?? (isValid ? state : undefined),
    retention: retention ?? {},
    problems: [
      ...(isValid ? [] : [createProblem("audit must be off or store")]),
      ...(retention === undefined ? [createProblem(RETENTION_FORM)] : []),
    ],
  };
}

const RETENTION_FORM = "store.keep must have auditDays, approvalDays and runDays, whole numbers of days from 1";

function createProblem(values: string): Problem {
  return { source: "settings.yaml", error: sentence("CONFIG_INVALID", values) };
}

/** Returns `undefined` if the section is not valid. */
function parseRetention(store: unknown): RuntimeSettings["retention"] | undefined {
  const keep = isRecord(store) ? (store["keep"] ?? {}) : {};
  if (!isRecord(keep)) return undefined;
  const { auditDays, approvalDays, runDays, ...others } = keep;
  if (Object.keys(others).length > 0 || ![auditDays, approvalDays, runDays].every(isDays)) return undefined;
  return {
    ...(isNumber(auditDays) && { auditDays }),
    ...(isNumber(approvalDays) && { approvalDays }),
    ...(isNumber(runDays) && { runDays }),
  };
}

const isNumber = (value: unknown): value is number => typeof value === "number";

/** True also for an absent setting. */
function isDays(value: unknown): boolean {
  return value === undefined || (isNumber(value) && Number.isInteger(value) && value >= 1);
}
