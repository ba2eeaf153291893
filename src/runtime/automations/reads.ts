import { setImmediate as nextTurn } from "node:timers/promises";

import {
  type AutomationFile,
  describeScheme,
  getScheduleZone,
  parseAutomationFile,
  type WebhookRefusal,
} from "../../automations/index.ts";
import { createError } from "../../errors.ts";
import { type Caller, OWNER, requireAdmin } from "../../model/caller.ts";
import type { AutomationRow, Database, OccurrenceRow } from "../../store/index.ts";
import type { AutomationEntry, AutomationFiles } from "./automation-files.ts";
import {
  type AutomationFacts,
  type AutomationState,
  describeAutomation,
  describeFile,
  findState,
  isRunning,
} from "./facts.ts";
import type { AutomationApi } from "./index.ts";
import { createUnknownError } from "./life.ts";
import { listNext, listUpcoming, type ScheduledName } from "./upcoming.ts";

/** Which automations are listed. */
export interface AutomationFilter {
  /** Words of which each must be in the name, the state, the description or the key. */
  readonly text?: string;
  readonly state?: AutomationState;
  readonly limit?: number;
  readonly offset?: number;
}

/** A part of the list of automations: those that need a person first, then by name. */
export interface AutomationPage {
  readonly rows: readonly AutomationFacts[];
  /** The number of all that the filter matches. */
  readonly total: number;
  /** The number of all automations by state, also of those that the filter leaves out. */
  readonly states: Readonly<Partial<Record<AutomationState, number>>>;
}

/** An automation with its file. */
export interface DescribedAutomation extends AutomationFacts {
  /** Missing if it is gone or cannot be used. */
  readonly file?: AutomationFile;
  /** How deliveries to its webhook are verified, in words. */
  readonly scheme?: string;
  /** The requests to its webhook that this process has refused. */
  readonly refused?: WebhookRefusal;
  /** The IANA name of the zone of its schedule. */
  readonly zone?: string;
  /** The next slots of its schedule, also while it does not run. */
  readonly nextSlots: readonly number[];
}

const DEFAULT_HISTORY = 50;

/** The slots of a detail. */
const MAX_NEXT = 5;

/** Automations that are described before others have their turn. */
const AT_ONCE = 50;

type AutomationReads = Pick<AutomationApi, "list" | "find" | "get" | "history" | "input" | "upcoming" | "whenEnded">;

interface ReadParts {
  readonly files: AutomationFiles;
  readonly open: () => Promise<Database>;
  readonly getRefusal: (name: string) => WebhookRefusal | undefined;
}

export function createReads({ files, open, getRefusal }: ReadParts): AutomationReads {
  async function read(): Promise<ReadAutomations> {
    const { automations } = await open();
    await files.refresh();
    const rows = new Map((await automations.list()).map((row) => [row.name, row]));
    const names = [...new Set([...files.listNames(), ...rows.keys()])].toSorted();
    return { names, rows };
  }

  async function readOne(name: string): Promise<ReadAutomations> {
    const found = await read();
    if (!found.names.includes(name)) throw createUnknownError(name, found.names);
    return found;
  }

  async function describe(
    names: readonly string[],
    rows: ReadAutomations["rows"],
  ): Promise<readonly AutomationFacts[]> {
    const { automations } = await open();
    const described: AutomationFacts[] = [];
    for (const [at, name] of names.entries()) {
      described.push(await describeAutomation(name, { files, rows, automations }));
      if (at % AT_ONCE === AT_ONCE - 1) await nextTurn();
    }
    return described;
  }

  return {
    async list({ caller = OWNER } = {}) {
      requireAdmin(caller, "Read");
      const { names, rows } = await read();
      return describe(names, rows);
    },
    async find({ caller = OWNER, ...filter } = {}) {
      requireAdmin(caller, "Read");
      const { names, rows } = await read();
      const { matching, states } = filterAutomations({ names, rows }, files, filter);
      const { limit = Infinity, offset = 0 } = filter;
      const listed = matching.slice(offset, offset + limit);
      return { rows: await describe(listed, rows), total: matching.length, states };
    },
    async get(name, { caller = OWNER } = {}) {
      requireAdmin(caller, "Read");
      const { rows } = await readOne(name);
      const { automations } = await open();
      const facts = await describeAutomation(name, { files, rows, automations });
      const file = facts.state === "proposed" ? await readProposal(name, open) : getFile(files.get(name));
      const refused = getRefusal(name);
      return {
        ...facts,
        ...(file !== undefined && { file, ...describeFile(name, file) }),
        ...describeTriggers(file),
        ...(refused !== undefined && { refused }),
      };
    },
    async history(name, { caller = OWNER, limit = DEFAULT_HISTORY, offset = 0 } = {}) {
      requireAdmin(caller, "Read");
      await readOne(name);
      return (await open()).automations.listOccurrences({ automation: name }, { limit, offset });
    },
    input: (name, id, options) => readInput({ automation: name, id }, open, options),
    async upcoming({ caller = OWNER, ...span }) {
      requireAdmin(caller, "Read");
      const { names, rows } = await read();
      return listUpcoming(listScheduled(names, rows, files), span);
    },
    whenEnded: (occurrence, signal) => whenEnded(occurrence, open, signal),
  };
}

async function readInput(
  { automation, id }: Pick<OccurrenceRow, "automation" | "id">,
  open: () => Promise<Database>,
  { caller = OWNER }: { readonly caller?: Caller } = {},
): Promise<string | undefined> {
  requireAdmin(caller, "Read");
  const { automations } = await open();
  requireOccurrence(await automations.getOccurrence(automation, id), id);
  return automations.getInput(automation, id);
}

function describeTriggers({ schedule, webhook }: Partial<Pick<AutomationFile, "schedule" | "webhook">> = {}): Pick<
  DescribedAutomation,
  "scheme" | "zone" | "nextSlots"
> {
  return {
    ...(webhook !== undefined && { scheme: describeScheme(webhook) }),
    ...(schedule !== undefined && { zone: getScheduleZone(schedule) }),
    nextSlots: schedule === undefined ? [] : listNext(schedule, Date.now(), MAX_NEXT),
  };
}

interface ReadAutomations {
  /** Sorted. */
  readonly names: readonly string[];
  readonly rows: ReadonlyMap<string, AutomationRow>;
}

/** The states in the order of lists: those that need a person are first. */
const ORDER: readonly AutomationState[] = [
  "proposed",
  "unaccepted",
  "held",
  "failing",
  "paused",
  "enabled",
] satisfies readonly AutomationState[];

function filterAutomations(
  { names, rows }: ReadAutomations,
  files: AutomationFiles,
  { text = "", state }: AutomationFilter,
): { readonly matching: readonly string[]; readonly states: AutomationPage["states"] } {
  const words = text.toLowerCase().split(/\s+/);
  const states: Partial<Record<AutomationState, number>> = {};
  const byState = new Map<AutomationState, string[]>(ORDER.map((each) => [each, []]));
  for (const name of names) {
    const entry = files.get(name);
    const { state: current } = findState(rows.get(name), entry);
    states[current] = (states[current] ?? 0) + 1;
    if (state !== undefined && state !== current) continue;
    const file = getFile(entry);
    const all = `${name} ${current} ${file?.description ?? ""} ${file?.key ?? ""}`.toLowerCase();
    if (words.every((word) => all.includes(word))) byState.get(current)?.push(name);
  }
  return { matching: [...byState.values()].flat(), states };
}

function* listScheduled(
  names: readonly string[],
  rows: ReadAutomations["rows"],
  files: AutomationFiles,
): Iterable<ScheduledName> {
  for (const name of names) {
    const entry = files.get(name);
    const schedule = getFile(entry)?.schedule;
    if (schedule !== undefined && isRunning(findState(rows.get(name), entry).state)) yield { name, schedule };
  }
}

function getFile(entry: AutomationEntry | undefined): AutomationFile | undefined {
  return entry?.kind === "file" ? entry.file : undefined;
}

/** Reads the file that a proposal would write; `undefined` if it cannot be used any more. */
async function readProposal(name: string, open: () => Promise<Database>): Promise<AutomationFile | undefined> {
  const version = await (await open()).automations.getVersion(name);
  try {
    return version && parseAutomationFile(name, version.text);
  } catch {
    return undefined; // the offer says why
  }
}

async function whenEnded(
  { automation, id }: Pick<OccurrenceRow, "automation" | "id">,
  open: () => Promise<Database>,
  signal: AbortSignal | undefined,
): Promise<OccurrenceRow> {
  const database = await open();
  for (;;) {
    const changed = waitForChange(database, signal);
    try {
      const row = await database.automations.getOccurrence(automation, id);
      if (row === undefined || row.ended !== null) return requireOccurrence(row, id);
      await changed.done;
    } finally {
      changed.stop();
    }
    signal?.throwIfAborted();
  }
}

/** Milliseconds between two looks at an occurrence that another process runs. */
const LOOK_MS = 1_000;

function waitForChange(
  { watch }: Pick<Database, "watch">,
  signal: AbortSignal | undefined,
): { readonly done: Promise<void>; readonly stop: () => void } {
  let end = (): void => {};
  const done = new Promise<void>((resolve) => (end = resolve));
  const timer = setTimeout(end, LOOK_MS);
  const stopWatching = watch(end);
  signal?.addEventListener("abort", end, { once: true });
  return {
    done,
    stop() {
      clearTimeout(timer);
      stopWatching();
      signal?.removeEventListener("abort", end);
    },
  };
}

/** Throws `OCCURRENCE_UNKNOWN` for one that does not exist. */
export function requireOccurrence(row: OccurrenceRow | undefined, id: string): OccurrenceRow {
  if (row === undefined) throw createError("OCCURRENCE_UNKNOWN", `there is no occurrence ${id}`);
  return row;
}
