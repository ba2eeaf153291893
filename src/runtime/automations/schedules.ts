import { createOccurrence, createScheduler, type SlotPlan, toSlotId } from "../../automations/index.ts";
import { formatList } from "../../shared/format-text.ts";
import type { AutomationRow, Database } from "../../store/index.ts";
import type { LogListener } from "../options.ts";
import type { AutomationFiles } from "./automation-files.ts";

interface ScheduleParts {
  readonly files: AutomationFiles;
  readonly open: () => Promise<Database>;
  readonly dispatch: (automation: string) => Promise<void>;
  /** Holds an automation that is not as it was accepted. */
  readonly check: (automation: string) => Promise<unknown>;
  readonly log: LogListener;
}

/** The schedules of the automations that are enabled. */
export interface FollowedSchedules {
  /** Reads changes of files and of the states of automations. */
  refresh(): Promise<void>;
  close(): Promise<void>;
}

/** Adds the slots of the enabled automations to the store as they come. */
export function followSchedules({ files, open, dispatch, check, log }: ScheduleParts): FollowedSchedules {
  const rows = new Map<string, AutomationRow>();
  /** The enabled automations without a file, about which the log has a line. */
  let lastMissing: ReadonlySet<string> = new Set();
  let readUntil = 0;
  let lastReading: Promise<void> = Promise.resolve();
  const scheduler = createScheduler({ onDue: addSlots, log: (text) => log("warn", text) });

  /** Without this, the schedule of a file that has lastMissing or changed would end in silence. */
  async function checkFiles(): Promise<void> {
    const enabled = [...rows.values()].filter(({ state }) => state === "enabled");
    const isAccepted = ({ name, digest }: AutomationRow): boolean => {
      const entry = files.get(name);
      return entry?.kind === "file" && entry.digest === digest;
    };
    if (enabled.every(isAccepted)) return void (lastMissing = new Set());
    await files.refresh(); // the rows may be newer
    const others = enabled.filter((row) => !isAccepted(row)).map(({ name }) => name);
    const missing = new Set(others.filter((name) => files.get(name) === undefined));
    for (const name of others) if (!missing.has(name)) await check(name);
    const before = lastMissing;
    lastMissing = missing;
    const fresh = [...missing].filter((name) => !before.has(name));
    if (fresh.length === 0) return;
    const names = formatList(fresh, MAX_NAMED);
    log("warn", `Without their files in ${files.folder}, these automations do not run: ${names}`);
  }

  async function read(): Promise<void> {
    const { automations } = await open();
    // Another process may have written a row with an earlier time than the newest one that was read.
    // The clock may have been far ahead when a row was written, or read.
    readUntil = Math.min(readUntil, Date.now());
    for (const row of await automations.list({ updated: { gt: readUntil - OVERLAP_MS } })) {
      rows.set(row.name, row);
      readUntil = Math.max(readUntil, row.updated);
    }
    await checkFiles();
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
      const next = lastReading.then(read);
      lastReading = next.catch(() => {}); // the caller gets the error
      return next;
    },
    close: () => scheduler.close(),
  };
}

/** The automations that a line of the log names. */
const MAX_NAMED = 10;

/** Milliseconds by which the clocks of processes may differ. */
const OVERLAP_MS = 600_000;
