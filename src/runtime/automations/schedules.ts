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
export function followSchedules(parts: ScheduleParts): FollowedSchedules {
  const { files, open, log } = parts;
  const rows = new Map<string, AutomationRow>();
  let readUntil = 0;
  let lastReading: Promise<void> = Promise.resolve();
  const checkFiles = createFileCheck(parts);
  const scheduler = createScheduler({
    onDue: (name, plan) => addSlots(name, plan, parts),
    log: (text) => log("warn", text),
  });

  async function read(): Promise<void> {
    const { automations } = await open();
    // Another process may have written a row with an earlier time than the newest one that was read.
    // The clock may have been far ahead when a row was written, or read.
    readUntil = Math.min(readUntil, Date.now());
    for (const row of await automations.list({ updated: { gt: readUntil - OVERLAP_MS } })) {
      rows.set(row.name, row);
      readUntil = Math.max(readUntil, row.updated);
    }
    // The time of a row does not say that it was deleted.
    if ((await automations.count()) !== rows.size) {
      rows.clear();
      for (const row of await automations.list()) rows.set(row.name, row);
    }
    await checkFiles([...rows.values()]);
    scheduler.setSchedules(
      files.list().flatMap((entry) => {
        const row = rows.get(entry.name);
        const schedule = entry.kind === "file" ? entry.file.schedule : undefined;
        if (schedule === undefined || row?.state !== "enabled") return [];
        return { name: entry.name, schedule, ...(row.lastSlot !== null && { lastSlot: row.lastSlot }) };
      }),
    );
  }

  return {
    refresh() {
      const next = lastReading.then(read);
      lastReading = next.catch(() => {}); // the caller gets the error
      return next;
    },
    async close() {
      await lastReading;
      await scheduler.close();
    },
  };
}

/** Creates the check without which the schedule of a file that was removed or changed would end in silence. */
function createFileCheck({ files, check, log }: ScheduleParts): (rows: readonly AutomationRow[]) => Promise<void> {
  /** The enabled automations without a file, about which the log has a line. */
  let lastMissing: ReadonlySet<string> = new Set();
  const isAccepted = ({ name, digest }: AutomationRow): boolean => {
    const entry = files.get(name);
    return entry?.kind === "file" && entry.digest === digest;
  };
  return async (rows) => {
    const enabled = rows.filter(({ state }) => state === "enabled");
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
  };
}

async function addSlots(
  name: string,
  { due, missed, missedCount, decidedUntil }: SlotPlan,
  { open, dispatch }: ScheduleParts,
): Promise<void> {
  const { automations } = await open();
  let isAdded = false;
  for (const { slot, startsAt } of due) {
    const occurrence = createOccurrence({ automation: name, id: toSlotId(slot), kind: "slot" }, startsAt);
    isAdded = (await automations.addOccurrence(occurrence)) || isAdded;
  }
  const last = missed.at(-1);
  if (last !== undefined) await addMissed(automations, name, { first: missed[0] ?? last, last, count: missedCount });
  await automations.passSlot(name, decidedUntil);
  if (isAdded) void dispatch(name);
}

async function addMissed(
  automations: Database["automations"],
  name: string,
  { first, last, count }: { readonly first: number; readonly last: number; readonly count: number },
): Promise<void> {
  const slots =
    count === 1 ? `the slot ${toSlotId(last)}` : `${count} slots from ${toSlotId(first)} to ${toSlotId(last)}`;
  const error = `missed ${slots}: no process was there to run ${count === 1 ? "it" : "them"}`;
  const occurrence = createOccurrence({ automation: name, id: toSlotId(last), kind: "slot" }, last);
  await automations.addOccurrence({ ...occurrence, state: "missed", ended: Date.now(), error });
}

/** The automations that a line of the log names. */
const MAX_NAMED = 10;

/** Milliseconds by which the clocks of processes may differ. */
const OVERLAP_MS = 600_000;
