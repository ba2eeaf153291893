import { defineTable, integer, json, optional, type RowOf, type Rows, text } from "../database/table.ts";

/**
 * `held`: it is not as it was accepted, or its key has lost a right; `proposed`: a model has written it, and it was not accepted
 * yet.
 */
export type AutomationRowState = "enabled" | "paused" | "held" | "proposed";

/** State of an automation. Times are in milliseconds since 1970. */
export type AutomationRow = RowOf<typeof AUTOMATIONS>;

/** The version of an automation that a person has accepted. */
export interface AcceptedVersion {
  /** The file, to show what has changed since. */
  readonly text: string;
  /** Digest and declaration of each method that the program can call, by its path. */
  readonly methods: Readonly<Record<string, { readonly digest: string; readonly declaration: string }>>;
  /** The id of the caller of the key. */
  readonly caller: string;
}

export const AUTOMATIONS = defineTable({
  name: "automations",
  key: ["name"],
  columns: {
    name: text(),
    state: text<AutomationRowState>(),
    /** Why it is paused or held. */
    reason: optional(text()),
    /** SHA-256 of the file that was accepted; `null` for one that was not. */
    digest: optional(text()),
    /** The person who has accepted it, or the caller who has proposed it. */
    by: text(),
    /** Failures since the last success. */
    failures: integer(),
    /** The last slot that was added or missed: later ones are due. */
    lastSlot: optional(integer()),
    created: integer(),
    updated: integer(),
  },
  indexes: [["updated"]],
});

/** The accepted version of each automation, or the text of a proposal. They are large, so lists do not read them. */
export const AUTOMATION_VERSIONS = defineTable({
  name: "automationVersions",
  key: ["name"],
  columns: { name: text(), version: json<AcceptedVersion>() },
});

/** `slot`: a time of the schedule; `delivery`: a request to the webhook; `manual`: a person asked for it. */
export type OccurrenceKind = "slot" | "delivery" | "manual";

/**
 * `due`: to be run; `waiting`: the run waits for a person; `skipped`: not run because of `overlap`; `missed`: no process was
 * there to run it.
 */
export type OccurrenceState =
  | "due"
  | "running"
  | "waiting"
  | "completed"
  | "failed"
  | "skipped"
  | "missed"
  | "cancelled";

/** One occasion on which an automation is to run. Times are in milliseconds since 1970. */
export type OccurrenceRow = RowOf<typeof OCCURRENCES>;

export const OCCURRENCES = defineTable({
  name: "occurrences",
  key: ["automation", "id"],
  columns: {
    automation: text(),
    /** The time of a slot in ISO 8601; the signed id of a delivery. */
    id: text(),
    kind: text<OccurrenceKind>(),
    state: text<OccurrenceState>(),
    due: integer(),
    /** The id of its run. */
    run: text(),
    /** How often it was asked for: again after a failure. */
    attempt: integer(),
    started: optional(integer()),
    ended: optional(integer()),
    /** Why it failed, was skipped or was cancelled. */
    error: optional(text()),
    /** The process that executes the run; with the state `cancelled`, as long as the run may not have ended. */
    claimedBy: optional(text()),
  },
  indexes: [
    ["state", "due"],
    ["automation", "due", "id"],
    ["automation", "state", "due"],
    ["automation", "started"],
    ["ended"],
  ],
});

/** The input of a delivery, or of a manual occurrence. It is large, so lists do not read it. */
export const OCCURRENCE_INPUTS = defineTable({
  name: "occurrenceInputs",
  key: ["automation", "id"],
  columns: { automation: text(), id: text(), /** JSON */ input: text() },
});

/**
 * The ids of deliveries whose occurrences were deleted: a copy of one of them starts nothing. A service that signs no time could else be
 * imitated with a delivery of long ago.
 */
export const PAST_DELIVERIES = defineTable({
  name: "pastDeliveries",
  key: ["automation", "id"],
  columns: { automation: text(), id: text(), /** Milliseconds since 1970. */ received: integer() },
  indexes: [["automation", "received"], ["received"]],
});

/** The states of an occurrence that has not ended. */
export const OPEN_STATES: readonly OccurrenceState[] = ["due", "running", "waiting"];

/** The lock of all changes of one automation and its occurrences. */
export function lockAutomation(automation: string): string {
  return `automation ${automation}`;
}

/** Finds out whether an automation exists: nothing is added to one that was removed, as a later one could have its name. */
export async function isKnownAutomation(rows: Pick<Rows, "total">, name: string): Promise<boolean> {
  return (await rows.total(AUTOMATIONS, { name })) > 0;
}
