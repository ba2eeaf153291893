import { createOccurrence, createScheduler, type SlotPlan, toSlotId } from "../../automations/index.ts";
import type { AutomationRow, Database } from "../../store/index.ts";
import type { LogListener } from "../options.ts";
import type { AutomationFiles } from "./automation-files.ts";

interface ScheduleParts {
  readonly files: AutomationFiles;
  readonly open: () => Promise<Database>;
  readonly dispatch: (automation: string) => Promise<void>;
  readonly log: LogListener;
}

/** The schedules of the automations that are enabled. */
export interface FollowedSchedules {
  /** Takes up changes of files and of the states of automations. */
  refresh(): Promise<void>;
  close(): Promise<void>;
}

/** Adds the slots of the enabled automations to the store as they come. */
export function followSchedules({ files, open, dispatch, log }: ScheduleParts): FollowedSchedules {
  const rows = new Map<string, AutomationRow>();
  let readUntil = 0;
  let reading: Promise<void> = Promise.resolve();
  const scheduler = createScheduler({ onDue: addSlots, log: (text) => log("warn", text) });

  async function read(): Promise<void> {
    const { automations } = await open();
    // Another process may have written a row with an earlier time than the newest one that was read.
    for (const row of await automations.list({ updated: { gt: readUntil - OVERLAP_MS } })) {
      rows.set(row.name, row);
      readUntil = Math.max(readUntil, row.updated);
    }
    scheduler.setSchedules(
      files.list().flatMap((entry) => {
        const row = rows.get(entry.name);
        const schedule = entry.kind === "file" ? entry.file.schedule : undefined;
        if (schedule === undefined || row?.state !== "enabled") return [];
        return { name: entry.name, schedule, ...(row.lastSlot !== null && { lastSlot: row.lastSlot }) };
      }),
    );
  }

  async function addSlots(name: string, { due, missed, missedCount, decidedUntil }: SlotPlan): Promise<void> {
    const { automations } = await open();
    let isAdded = false;
    for (const { slot, startsAt } of due) {
      const occurrence = createOccurrence({ automation: name, id: toSlotId(slot), kind: "slot" }, startsAt);
      isAdded = (await automations.addOccurrence(occurrence)) || isAdded;
    }
    const last = missed.at(-1);
    if (last !== undefined) await addMissed(name, { first: missed[0] ?? last, last, count: missedCount });
    await automations.passSlot(name, decidedUntil);
    if (isAdded) void dispatch(name);
  }

  async function addMissed(
    name: string,
    { first, last, count }: { readonly first: number; readonly last: number; readonly count: number },
  ): Promise<void> {
    const { automations } = await open();
    const slots =
      count === 1 ? `the slot ${toSlotId(last)}` : `${count} slots from ${toSlotId(first)} to ${toSlotId(last)}`;
    const error = `missed ${slots}: no process was there to run ${count === 1 ? "it" : "them"}`;
    const occurrence = createOccurrence({ automation: name, id: toSlotId(last), kind: "slot" }, last);
    await automations.addOccurrence({ ...occurrence, state: "missed", ended: Date.now(), error });
  }

  return {
    refresh() {
      const next = reading.then(read);
      reading = next.catch(() => {}); // the caller gets the error
      return next;
    },
    close: () => scheduler.close(),
  };
}

/** Milliseconds by which the clocks of processes may differ. */
const OVERLAP_MS = 600_000;
