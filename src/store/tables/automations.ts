import type { SelectOptions, StoreEngine, Where } from "../database/table.ts";
import {
  type AcceptedVersion,
  AUTOMATION_VERSIONS,
  type AutomationRow,
  type AutomationRowState,
  AUTOMATIONS,
  isKnownAutomation as isKnown,
  lockAutomation as lock,
  OCCURRENCE_INPUTS,
  type OccurrenceKind,
  type OccurrenceRow,
  OCCURRENCES,
  OPEN_STATES,
  PAST_DELIVERIES,
} from "./automation-rows.ts";
import { addDeliveries, type AddedDelivery, type DeliveryBatch } from "./deliveries.ts";

/** The occurrences of one automation that have not ended. */
export interface OpenOccurrences {
  /** Those that run or wait for a person. */
  readonly active: readonly OccurrenceRow[];
  /** The first ones that are due. */
  readonly due: readonly OccurrenceRow[];
  /** How many began in the last hour. */
  readonly startedInHour: number;
}

/** Changes of an occurrence. */
export interface OccurrenceChange {
  readonly id: string;
  readonly changes: Partial<Omit<OccurrenceRow, "automation" | "id">>;
}

/** Changes that follow from the end of an occurrence. */
export type OccurrenceEnd = Pick<OccurrenceRow, "error"> & {
  readonly state: "completed" | "failed" | "cancelled";
  readonly ended: number;
  /** True if the automation has failed or succeeded with it. */
  readonly isCounted: boolean;
  /** An automation is paused after this number of failures in succession. */
  readonly maxFailures: number;
};

/** Automations and their occurrences. */
export interface AutomationTable {
  get(name: string): Promise<AutomationRow | undefined>;
  list(where?: Where<AutomationRow>): Promise<readonly AutomationRow[]>;
  /** Returns the number of all automations. */
  count(): Promise<number>;
  /** Returns the accepted version, or that of a proposal. */
  getVersion(name: string): Promise<AcceptedVersion | undefined>;
  /**
   * Adds or replaces an automation with its version. Returns false, and changes nothing, if the one that is stored then is not one
   * that may be replaced.
   */
  put(
    row: AutomationRow,
    version: AcceptedVersion,
    mayReplace?: (stored: AutomationRow | undefined) => boolean,
  ): Promise<boolean>;
  /** Returns false if it does not exist. */
  update(name: string, changes: Partial<Omit<AutomationRow, "name">>): Promise<boolean>;
  /** Changes an automation if it is in a state; returns false otherwise. */
  changeState(name: string, from: AutomationRowState, changes: Partial<Omit<AutomationRow, "name">>): Promise<boolean>;
  /** Deletes an automation with its occurrences; returns false if it does not exist. */
  delete(name: string): Promise<boolean>;
  /** Raises `lastSlot`, never lowers it. */
  passSlot(name: string, slot: number): Promise<void>;
  /** Adds an occurrence with its input. Returns false if it exists already, or its automation does not. */
  addOccurrence(occurrence: OccurrenceRow, input?: string): Promise<boolean>;
  /** Adds deliveries of one automation in one transaction; says for each, in their order, whether it was added. */
  addDeliveries(automation: string, batch: DeliveryBatch): Promise<readonly AddedDelivery[]>;
  getOccurrence(automation: string, id: string): Promise<OccurrenceRow | undefined>;
  /** Returns JSON; `undefined` for an occurrence without an input of its own. */
  getInput(automation: string, id: string): Promise<string | undefined>;
  /** The latest first by default. */
  listOccurrences(
    where: Where<OccurrenceRow>,
    options?: SelectOptions<OccurrenceRow>,
  ): Promise<readonly OccurrenceRow[]>;
  countOccurrences(where: Where<OccurrenceRow>): Promise<number>;
  /**
   * Changes the open occurrences of one automation as `choose` says, while no other process does; returns the changed ones. Reads at
   * most `deliveries` due deliveries.
   */
  changeOpen(
    automation: string,
    { now, deliveries }: { readonly now: number; readonly deliveries: number },
    choose: (open: OpenOccurrences) => readonly OccurrenceChange[],
  ): Promise<readonly OccurrenceRow[]>;
  /** Changes an occurrence if conditions hold; returns false otherwise. */
  updateOccurrence(
    occurrence: Pick<OccurrenceRow, "automation" | "id">,
    where: Where<OccurrenceRow>,
    changes: Partial<OccurrenceRow>,
  ): Promise<boolean>;
  /**
   * Ends an open occurrence and counts its failure. Returns the automation as it is then, and whether this has paused it;
   * `undefined` if the occurrence had ended before, or has another run by now.
   */
  endOccurrence(
    occurrence: Pick<OccurrenceRow, "automation" | "id" | "run">,
    end: OccurrenceEnd,
  ): Promise<{ readonly automation: AutomationRow | undefined; readonly isPaused: boolean } | undefined>;
}

/** The due slots and manual occurrences that are read at once. */
const MAX_DUE = 100;

const HOUR_MS = 3_600_000;

export function createAutomationTable(engine: StoreEngine): AutomationTable {
  return { ...createAutomations(engine), ...createOccurrences(engine) };
}

function createAutomations(
  engine: StoreEngine,
): Pick<
  AutomationTable,
  "get" | "getVersion" | "list" | "count" | "put" | "update" | "changeState" | "delete" | "passSlot"
> {
  return {
    get: async (name) => (await engine.select(AUTOMATIONS, { name }))[0],
    list: (where = {}) => engine.select(AUTOMATIONS, where, { order: "name" }),
    count: () => engine.total(AUTOMATIONS),
    getVersion: async (name) => (await engine.select(AUTOMATION_VERSIONS, { name }))[0]?.version,
    async put(row, version, mayReplace = () => true) {
      const { name } = row;
      const isPut = await engine.transaction(lock(name), async (rows) => {
        const [stored] = await rows.select(AUTOMATIONS, { name });
        if (!mayReplace(stored)) return false;
        await rows.put(AUTOMATIONS, row);
        await rows.put(AUTOMATION_VERSIONS, { name, version });
        return true;
      });
      await engine.announce();
      return isPut;
    },
    async update(name, changes) {
      const isFound = (await engine.update(AUTOMATIONS, { name }, changes)) > 0;
      await engine.announce();
      return isFound;
    },
    async changeState(name, from, changes) {
      const isChanged = (await engine.update(AUTOMATIONS, { name, state: from }, changes)) > 0;
      if (isChanged) await engine.announce();
      return isChanged;
    },
    async delete(name) {
      const isFound = await engine.transaction(lock(name), async (rows) => {
        await rows.delete(OCCURRENCE_INPUTS, { automation: name });
        await rows.delete(OCCURRENCES, { automation: name });
        await rows.delete(PAST_DELIVERIES, { automation: name });
        await rows.delete(AUTOMATION_VERSIONS, { name });
        return (await rows.delete(AUTOMATIONS, { name })) > 0;
      });
      await engine.announce();
      return isFound;
    },
    async passSlot(name, slot) {
      if ((await engine.update(AUTOMATIONS, { name, lastSlot: { lt: slot } }, { lastSlot: slot })) > 0) return;
      await engine.update(AUTOMATIONS, { name, lastSlot: null }, { lastSlot: slot });
    },
  };
}

function createOccurrences(
  engine: StoreEngine,
): Omit<
  AutomationTable,
  "get" | "getVersion" | "list" | "count" | "put" | "update" | "changeState" | "delete" | "passSlot"
> {
  return {
    addOccurrence(occurrence, input) {
      const { automation, id } = occurrence;
      return engine.transaction(lock(automation), async (rows) => {
        const isThere = (await rows.total(OCCURRENCES, { automation, id })) > 0;
        if (isThere || !(await isKnown(rows, automation))) return false;
        await rows.insert(OCCURRENCES, [occurrence]);
        if (input !== undefined) await rows.insert(OCCURRENCE_INPUTS, [{ automation, id, input }]);
        return true;
      });
    },
    addDeliveries: (automation, batch) => addDeliveries(engine, automation, batch),
    getOccurrence: async (automation, id) => (await engine.select(OCCURRENCES, { automation, id }))[0],
    getInput: async (automation, id) => (await engine.select(OCCURRENCE_INPUTS, { automation, id }))[0]?.input,
    listOccurrences: (where, options) =>
      engine.select(OCCURRENCES, where, { order: ["due", "id"], descending: true, ...options }),
    countOccurrences: (where) => engine.total(OCCURRENCES, where),
    changeOpen: (automation, { now, deliveries }, choose) =>
      engine.transaction(lock(automation), async (rows) => {
        const active = await rows.select(OCCURRENCES, { automation, state: { in: ["running", "waiting"] } });
        const due = await selectDue(rows, automation, deliveries);
        const startedInHour = await rows.total(OCCURRENCES, {
          automation,
          started: { gt: now - HOUR_MS, lt: now + HOUR_MS }, // later ones are of a clock that was wrong
        });
        const byId = new Map([...active, ...due].map((row) => [row.id, row]));
        const changed: OccurrenceRow[] = [];
        for (const { id, changes } of choose({ active, due, startedInHour })) {
          const row = byId.get(id);
          if (row === undefined) continue;
          await rows.update(OCCURRENCES, { automation, id }, changes);
          changed.push({ ...row, ...changes });
        }
        return changed;
      }),
    updateOccurrence: async ({ automation, id }, where, changes) =>
      (await engine.update(OCCURRENCES, { ...where, automation, id }, changes)) > 0,
    async endOccurrence({ automation, id, run }, { state, ended, error, isCounted, maxFailures }) {
      const result = await engine.transaction(lock(automation), async (rows) => {
        const open = { automation, id, run, state: { in: OPEN_STATES } };
        const changes = { state, ended, error, claimedBy: null };
        if ((await rows.update(OCCURRENCES, open, changes)) === 0) return undefined;
        const [row] = await rows.select(AUTOMATIONS, { name: automation });
        if (row === undefined || !isCounted) return { automation: row, isPaused: false };
        const failures = state === "failed" ? row.failures + 1 : 0;
        const isPaused = failures >= maxFailures && row.state === "enabled";
        const why = { state: "paused", reason: `${failures} failures in succession; the last: ${error}` } as const;
        const after = { failures, updated: ended, ...(isPaused && why) };
        await rows.update(AUTOMATIONS, { name: automation }, after);
        return { automation: { ...row, ...after }, isPaused };
      });
      await engine.announce();
      return result;
    },
  };
}

/** Selects the first due occurrences. Those that a service sends do not hide the slots, which would end in silence. */
async function selectDue(
  rows: Pick<StoreEngine, "select">,
  automation: string,
  deliveries: number,
): Promise<readonly OccurrenceRow[]> {
  const select = (kinds: readonly OccurrenceKind[], limit: number): Promise<readonly OccurrenceRow[]> =>
    rows.select(OCCURRENCES, { automation, state: "due", kind: { in: kinds } }, { order: ["due", "id"], limit });
  const received = deliveries === 0 ? [] : await select(["delivery"], deliveries);
  const all = [...(await select(["slot", "manual"], MAX_DUE)), ...received];
  return all.toSorted((one, other) => one.due - other.due || (one.id < other.id ? -1 : 1));
}
