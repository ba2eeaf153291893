import { getMessage } from "../errors.ts";
import type { Database } from "./database/database.ts";
import type { Retention } from "./database/sweep.ts";

export const DEFAULT_RETENTION: Retention = { auditDays: 365, approvalDays: 90, runDays: 30 };

/** Deletes old records when the store was opened, and once a day. */
export interface RetentionSchedule {
  start(database: Pick<Database, "sweep">): void;
  close(): Promise<void>;
}

const SWEEP_EVERY_MS = 86_400_000;
/** Milliseconds until a sweep that failed is tried again. */
const TRY_AGAIN_MS = 60_000;

export function scheduleRetention(retention: Partial<Retention>, warn: (text: string) => void): RetentionSchedule {
  let timer: NodeJS.Timeout | undefined;
  let sweeping: Promise<void> = Promise.resolve();
  let isClosed = false;

  async function sweep(database: Pick<Database, "sweep">): Promise<void> {
    let pauseMs = SWEEP_EVERY_MS;
    try {
      await database.sweep(retention);
    } catch (error) {
      warn(`Cannot delete old records: ${getMessage(error)}`);
      pauseMs = TRY_AGAIN_MS;
    }
    if (!isClosed) timer = setTimeout(() => void (sweeping = sweep(database)), pauseMs).unref();
  }

  return {
    start(database) {
      clearTimeout(timer);
      sweeping = sweep(database);
    },
    async close() {
      isClosed = true;
      clearTimeout(timer);
      await sweeping;
    },
  };
}
