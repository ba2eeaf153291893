// The JSON of automations that the server sends to the pages of the console. Times are in milliseconds since 1970.

import type { AutomationState, UpcomingSlots } from "../../runtime/api/view.ts";
import type { WaitingDeliveries } from "../../automations/index.ts";
import type { OccurrenceRow } from "../../store/index.ts";

export type { AutomationState, UpcomingSlots };

export const AUTOMATION_STATES: readonly AutomationState[] = [
  "proposed",
  "unaccepted",
  "held",
  "failing",
  "paused",
  "enabled",
];

/** An occasion on which an automation runs. */
export interface OccurrenceSummary extends Pick<
  OccurrenceRow,
  "attempt" | "due" | "ended" | "error" | "id" | "kind" | "started" | "state"
> {
  /** The id of its run; `null` for one that has not begun. */
  readonly run: string | null;
}

export interface AutomationSummary {
  readonly name: string;
  readonly state: AutomationState;
  /** Why it does not run. */
  readonly reason: string | null;
  readonly description: string | null;
  /** The API key with whose rights it runs. */
  readonly key: string | null;
  /** When it runs by itself, in words. */
  readonly schedule: string | null;
  /** The next slot; `null` for one that does not run. */
  readonly next: number | null;
  /** The URL of its webhook. */
  readonly webhook: string | null;
  /** Its deliveries that wait for their runs. */
  readonly waiting: WaitingDeliveries | null;
  /** Failures in succession. */
  readonly failures: number;
  /** The caller that has accepted it, or made the proposal. */
  readonly by: string | null;
  readonly last: OccurrenceSummary | null;
}

/** A part of the list of automations. */
export interface AutomationList {
  readonly rows: readonly AutomationSummary[];
  /** The number of all that match the filter. */
  readonly total: number;
  /** The number of all automations by state. */
  readonly states: Readonly<Partial<Record<AutomationState, number>>>;
}

export interface AutomationDetail extends AutomationSummary {
  /** True if its program names methods that the caller may not see: program, plan, difference and errors are left out. */
  readonly isHidden: boolean;
  readonly timing: AutomationTiming | null;
  readonly hook: {
    /** `github`, or the form of the signature. */
    readonly scheme: string;
    /** References to its secrets. */
    readonly secrets: readonly string[];
    /** The requests that this server has refused since its start, with the reason for the last one. */
    readonly refused: { readonly count: number; readonly why: string; readonly at: number } | null;
  } | null;
  readonly limits: Readonly<Record<string, number>> | null;
  /** The JSON Schema of its input; `null` for any input. */
  readonly input: unknown;
  /** Arguments that fit the schema. */
  readonly example: Readonly<Record<string, unknown>>;
  readonly offer: AutomationOfferDetail | null;
  /** The error for a file that is gone or cannot be used. */
  readonly problem: string | null;
}

export interface AutomationTiming {
  /** An IANA name. */
  readonly zone: string;
  /** The next slots, also while it does not run. */
  readonly next: readonly number[];
  readonly overlap: string;
  readonly catchUp: string;
  /** How old a missed slot may be to run later, in milliseconds. */
  readonly windowMs: number;
  readonly jitterMs: number;
}

/** An automation as a person can accept it now. */
export interface AutomationOfferDetail {
  /** The whole file. */
  readonly text: string;
  /** SHA-256 of the file. */
  readonly digest: string;
  readonly source: string;
  readonly calls: readonly { readonly path: string; readonly effect: string }[];
  /** Differences from the accepted version; all of it for one that was never accepted. */
  readonly difference: {
    readonly lines: readonly string[];
    readonly methods: readonly { readonly path: string; readonly before?: string; readonly now?: string }[];
  };
  /** Why it cannot be accepted. */
  readonly flaw: string | null;
}

/** The file of an automation, to edit it. */
export interface AutomationFileText {
  readonly text: string;
  /** SHA-256 of the text. */
  readonly digest: string;
}

/** An automation as it would be with another text of its file. */
export interface AutomationCheck {
  readonly offer: AutomationOfferDetail | null;
  /** The mistake in the text, with its line. */
  readonly problem: string | null;
}

/** A part of the history of an automation, the latest occurrences first. */
export interface AutomationHistory {
  readonly rows: readonly OccurrenceSummary[];
  readonly hasMore: boolean;
}

/** The input of an occurrence, with masked secrets. */
export interface OccurrenceInput {
  /** JSON; `null` for a slot, whose input is in the file. */
  readonly json: string | null;
}

/** The slots that come. */
export interface AutomationCalendar extends UpcomingSlots {
  readonly from: number;
  readonly until: number;
}

/** An automation whose file was written. It runs after it was accepted. */
export interface SavedAutomationFacts {
  readonly name: string;
  /** The name of its file. */
  readonly file: string;
}
