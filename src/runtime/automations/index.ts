import {
  createDispatcher,
  createIntake,
  createManualId,
  createOccurrence,
  createRunId,
  type OccurrenceEnding,
  type ReceiveDelivery,
  type StartObstacle,
  type StartRules,
} from "../../automations/index.ts";
import { getMessage } from "../../errors.ts";
import { NO_ACCOUNTS } from "../../model/account.ts";
import { type Caller, OWNER, requireAdmin } from "../../model/caller.ts";
import type { Database, OccurrenceRow } from "../../store/index.ts";
import type { RunApi } from "../api/run.ts";
import type { RuntimeParts } from "../api/parts.ts";
import type { Runs } from "../execution/runs.ts";
import { checkInput } from "../execution/run-header.ts";
import type { SavedSkills } from "../saved/index.ts";
import type { RuntimeServices } from "../services.ts";
import { type AutomationAuthoring, createAuthoring, writeAutomation } from "./authoring/index.ts";
import { type AutomationFiles, openAutomationFiles } from "./automation-files.ts";
import { callSoon } from "./call-soon.ts";
import { type AutomationFacts, type AutomationState, describeAutomation } from "./facts.ts";
import {
  type AutomationLife,
  type AutomationOffer,
  createAutomationLife,
  createHeldError,
  createUnknownError,
  type AutomationOfferOptions,
  requireRow,
} from "./life.ts";
import {
  type DescribedAutomation,
  type AutomationFilter,
  type AutomationPage,
  createReads,
  requireOccurrence,
} from "./reads.ts";
import { createOccurrenceRunner } from "./runner.ts";
import { type FollowedSchedules, followSchedules } from "./schedules.ts";
import type { UpcomingOptions, UpcomingSlots } from "./upcoming.ts";
import { findWebhookConflict } from "./webhook-conflict.ts";
import { createWebhooks, type Webhooks } from "./webhooks.ts";

export type {
  DescribedAutomation,
  AutomationFacts,
  AutomationFilter,
  AutomationOffer,
  AutomationPage,
  AutomationState,
  UpcomingSlots,
};

/** Whether a person asks, and on whose behalf. Reading needs `admin:Read`, everything else `admin:ManageServers`. */
export interface AutomationCaller {
  readonly caller?: Caller;
}

/** Programs that go on working: their files, schedules, webhooks and history. */
export interface AutomationApi extends AutomationAuthoring {
  list(options?: AutomationCaller): Promise<readonly AutomationFacts[]>;
  /** Throws `AUTOMATION_UNKNOWN`. */
  get(name: string, options?: AutomationCaller): Promise<DescribedAutomation>;
  /** Lists a part of the automations, those that need a person first. */
  find(options?: AutomationCaller & AutomationFilter): Promise<AutomationPage>;
  /** The occurrences of an automation, the latest first. Throws `AUTOMATION_UNKNOWN`. */
  history(
    name: string,
    options?: AutomationCaller & { readonly limit?: number; readonly offset?: number },
  ): Promise<readonly OccurrenceRow[]>;
  /** The input of an occurrence as JSON; `undefined` for a slot, whose input is in the file. Throws `OCCURRENCE_UNKNOWN`. */
  input(name: string, occurrence: string, options?: AutomationCaller): Promise<string | undefined>;
  /** The slots of all enabled automations in a span of time. */
  upcoming(options: AutomationCaller & UpcomingOptions): Promise<UpcomingSlots>;
  /** Looks at an automation as it is now, or with another `text` of its file, with the difference to the accepted version. */
  offer(
    name: string,
    options?: AutomationCaller & AutomationOfferOptions & { readonly text?: string },
  ): Promise<AutomationOffer>;
  /**
   * Accepts an automation as it is, and enables it; of a proposal, writes its file. With `digest`, only if its file still has this
   * digest.
   */
  accept(
    name: string,
    options?: AutomationCaller & AutomationOfferOptions & { readonly digest?: string },
  ): Promise<AutomationFacts>;
  pause(name: string, options?: AutomationCaller & { readonly reason?: string }): Promise<AutomationFacts>;
  resume(name: string, options?: AutomationCaller): Promise<AutomationFacts>;
  /** Runs an automation once, now; resolves when the occurrence is stored. Throws `AUTOMATION_HELD`, `INPUT_INVALID`. */
  run(name: string, options?: AutomationCaller & { readonly input?: unknown }): Promise<OccurrenceRow>;
  /** Runs an occurrence that has failed, was cancelled or skipped again: what its run has done is not done again. */
  retry(name: string, occurrence: string, options?: AutomationCaller): Promise<OccurrenceRow>;
  /** Waits for the end of an occurrence, which this or another process runs. */
  whenEnded(occurrence: Pick<OccurrenceRow, "automation" | "id">, signal?: AbortSignal): Promise<OccurrenceRow>;
  /** Takes a request to the webhook with an id: verifies it, stores it, and lets its run begin. Never rejects. */
  readonly receive: ReceiveDelivery;
  /** Begins what is due from now on, as long as the runtime is open. If the store does not work, this begins as soon as it does. */
  follow(): Promise<void>;
}

export interface OpenAutomations {
  readonly api: AutomationApi;
  /** Begins nothing more, and leaves what runs to other processes after a while. */
  close(): Promise<void>;
}

/** Milliseconds for which the end of a process waits for the runs of automations. */
const GRACE_MS = 5_000;

interface AutomationParts {
  readonly parts: RuntimeParts;
  readonly services: RuntimeServices;
  readonly run: RunApi;
  readonly runs: Runs;
  readonly savedSkills: SavedSkills;
}

export function createAutomations(options: AutomationParts): OpenAutomations {
  const { parts, services } = options;
  const open = (): Promise<Database> => parts.database.open();
  const files = openFiles(parts);
  let isClosing = false;
  const findOwner: Webhooks["findOwner"] = (id, how) => webhooks.findOwner(id, how);
  const life = createLife(options, files, findOwner);
  const runner = createOccurrenceRunner({
    ...options,
    open,
    prepare: (name) => life.prepare(name),
    deleteValues: (name) => parts.programStore.deleteAll(name),
    isClosing: () => isClosing,
  });
  const intake = createIntake();
  const dispatcher = createDispatcher({
    open,
    runner,
    marks: services.records.claims,
    findRules: (name) => findRules(name, life),
    whenReady: () => intake.whenQuiet(),
    onEnd: (occurrence, ending) => reportEnd(occurrence, ending, parts),
    log: (level, text) => parts.log(level, text),
  });
  const webhooks = createWebhooks({
    ...parts,
    open,
    files,
    intake,
    onConflict: (name) => void hold(name, life, parts),
    dispatch: (name) => void dispatcher.dispatch(name),
  });
  const stops: (() => void)[] = [webhooks.close];
  let schedules: FollowedSchedules | undefined;
  let following: Promise<void> | undefined;

  /** Fails without the store, and can be called again then. */
  async function follow(): Promise<void> {
    await Promise.all([files.refresh(), parts.providers.whenKnown()]);
    const database = await open();
    if (isClosing) return;
    schedules ??= watchSchedules(database, {
      files,
      open,
      dispatch: (name) => dispatcher.dispatch(name),
      check: (name) => life.prepare(name),
      log: (level, text) => parts.log(level, text),
      stops,
    });
    await schedules.refresh();
    await dispatcher.start();
  }

  const changes = { files, life, open, log: parts.log };
  /** A process that does not follow automations may end soon, and leaves what waits to one that does. */
  const dispatchHere = (name: string): void => void (following !== undefined && dispatcher.dispatch(name));
  return {
    api: {
      ...createReads({ files, open, getRefusal: webhooks.getRefusal }),
      ...createAuthoring(options, files, (id) => findOwner(id, { afresh: true })),
      ...createChanges({ ...changes, dispatch: dispatchHere }),
      ...createStarts({ ...changes, dispatch: (name) => void dispatcher.dispatch(name) }),
      receive: webhooks.receive,
      follow: () => (following ??= services.records.retries.add("follow the automations", follow)),
    },
    async close() {
      isClosing = true;
      for (const stop of stops.splice(0)) stop();
      await schedules?.close();
      if (following !== undefined) services.records.releaseCallers();
      await dispatcher.close(GRACE_MS);
    },
  };
}

/** Milliseconds between two looks at the states of automations. */
const REFRESH_MS = 1_000;

/** Follows the schedules, and adds what ends this to `stops`. */
function watchSchedules(
  database: Database,
  { stops, ...parts }: Parameters<typeof followSchedules>[0] & { readonly stops: (() => void)[] },
): FollowedSchedules {
  const followed = followSchedules(parts);
  const fail = (error: unknown): void =>
    parts.log("warn", `Cannot read the states of automations: ${getMessage(error)}`);
  const { request, stop } = callSoon(() => followed.refresh(), fail, REFRESH_MS);
  stops.push(parts.files.watch(request), database.watch(request), stop);
  return followed;
}

function openFiles({ settings, trust, log }: RuntimeParts): AutomationFiles {
  return openAutomationFiles(settings.automationsDir, {
    gate: settings.trust === undefined ? undefined : trust.gate,
    warn: (text) => log("warn", text),
  });
}

function createLife(
  { parts, run }: AutomationParts,
  files: AutomationFiles,
  findOwner: Webhooks["findOwner"],
): AutomationLife {
  return createAutomationLife({
    files,
    findWebhookConflict: (name, webhook, how) => findWebhookConflict(name, webhook, (id) => findOwner(id, how)),
    write: (name, text) => writeAutomation(name, text, parts.settings),
    open: () => parts.database.open(),
    check: (source, { input }, caller) =>
      run.checkTexts(source, { caller, ...(input !== undefined && { inputSchema: input }) }),
    getCatalog: (caller) => parts.registry.viewFor(caller),
    openAccounts: async () => (parts.accounts.definitions.length > 0 ? parts.accounts.open() : NO_ACCOUNTS),
    recordsRuns: parts.settings.runs.record !== "off",
    onHeld: (name, why) => parts.alerts.onAutomation({ name, state: "held", why }),
    now: Date.now,
  });
}

/** Looks at an automation that must not run as it is: it is held then. */
async function hold(name: string, life: AutomationLife, { log }: Pick<RuntimeParts, "log">): Promise<void> {
  try {
    await life.prepare(name);
  } catch (error) {
    log("warn", `Cannot hold the automation ${name}: ${getMessage(error)}`);
  }
}

async function findRules(name: string, life: AutomationLife): Promise<StartRules | StartObstacle> {
  const prepared = await life.prepare(name);
  if ("obstacle" in prepared) return prepared;
  const { schedule, limits } = prepared.file;
  return { overlap: schedule?.overlap ?? "skip", parallel: limits.parallel, runsPerHour: limits.runsPerHour };
}

function reportEnd({ automation, id }: OccurrenceRow, ending: OccurrenceEnding, { log, alerts }: RuntimeParts): void {
  const { state, error, isPaused, automation: row } = ending;
  if (state !== "completed") log("warn", `The automation ${automation} has ${state} at ${id}: ${error}`);
  if (isPaused) alerts.onAutomation({ name: automation, state: "paused", why: row?.reason ?? error ?? "" });
}

interface ChangeParts {
  readonly files: AutomationFiles;
  readonly life: AutomationLife;
  readonly dispatch: (name: string) => void;
  readonly open: () => Promise<Database>;
  readonly log: RuntimeParts["log"];
}

function createChanges({
  files,
  life,
  dispatch,
  open,
  log,
}: ChangeParts): Pick<AutomationApi, "offer" | "accept" | "pause" | "resume"> {
  const describe = async (name: string): Promise<AutomationFacts> => {
    const { automations } = await open();
    const row = await automations.get(name);
    return describeAutomation(name, { files, rows: new Map(row === undefined ? [] : [[name, row]]), automations });
  };
  const note = createNote(log);
  return {
    async offer(name, { caller = OWNER, ...options } = {}) {
      requireAdmin(caller, "Read");
      await files.refresh();
      return life.offer(name, options);
    },
    async accept(name, { caller = OWNER, ...options } = {}) {
      requireAdmin(caller, "ManageServers");
      await files.refresh();
      await life.accept(name, { by: caller.id, ...options });
      note(caller, `has accepted the automation ${name}`);
      dispatch(name);
      return describe(name);
    },
    async pause(name, { caller = OWNER, reason = `by ${caller.id}` } = {}) {
      requireAdmin(caller, "ManageServers");
      await files.refresh();
      await life.pause(name, reason);
      note(caller, `has paused the automation ${name}`);
      return describe(name);
    },
    async resume(name, { caller = OWNER } = {}) {
      requireAdmin(caller, "ManageServers");
      await files.refresh();
      await life.resume(name);
      note(caller, `has resumed the automation ${name}`);
      dispatch(name);
      return describe(name);
    },
  };
}

/** Returns the function that notes who has changed what. */
function createNote(log: RuntimeParts["log"]): (caller: Caller, what: string) => void {
  return (caller, what) => log("info", `${caller.id} ${what}`);
}

function createStarts({ files, life, dispatch, open, log }: ChangeParts): Pick<AutomationApi, "run" | "retry"> {
  const note = createNote(log);
  return {
    async run(name, { caller = OWNER, input } = {}) {
      requireAdmin(caller, "ManageServers");
      await files.refresh();
      const { automations } = await open();
      requireRow(name, await automations.get(name), files);
      const prepared = await life.prepare(name);
      if ("obstacle" in prepared) throw createHeldError(`${name}: ${prepared.obstacle}`);
      const { input: schema, schedule } = prepared.file;
      if (schema !== undefined) checkInput(input ?? schedule?.input, schema);
      const row = createOccurrence({ automation: name, id: createManualId(Date.now()), kind: "manual" }, Date.now());
      const isAdded = await automations.addOccurrence(row, input === undefined ? undefined : JSON.stringify(input));
      if (!isAdded) throw createUnknownError(name, files.listNames());
      dispatch(name);
      return row;
    },
    async retry(name, id, { caller = OWNER } = {}) {
      requireAdmin(caller, "ManageServers");
      await files.refresh();
      const { automations } = await open();
      requireRow(name, await automations.get(name), files);
      const row = requireOccurrence(await automations.getOccurrence(name, id), id);
      if (!["failed", "cancelled", "skipped"].includes(row.state))
        throw createHeldError(`${name}: ${id} is ${row.state}, so it is not run again`);
      if (row.claimedBy !== null)
        throw createHeldError(`${name}: the run of ${id} was cancelled and has not ended yet; try again in a moment`);
      const attempt = row.started === null ? row.attempt : row.attempt + 1;
      const again = { state: "due", due: Date.now(), attempt, run: createRunId(row, attempt), ended: null } as const;
      const isChanged = await automations.updateOccurrence(row, { state: row.state, attempt: row.attempt }, again);
      if (!isChanged) throw createHeldError(`${name}: ${id} was changed meanwhile; look at its history`);
      note(caller, `has asked for ${id} of the automation ${name} again`);
      dispatch(name);
      return { ...row, ...again };
    },
  };
}
