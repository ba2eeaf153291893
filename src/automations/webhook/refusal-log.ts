import { quote } from "../../shared/format-text.ts";
import { setBounded } from "../../shared/lru.ts";

/** The requests to a webhook that were refused. */
export interface WebhookRefusal {
  readonly count: number;
  /** Why the last one was refused. */
  readonly why: string;
  /** Milliseconds since 1970. */
  readonly at: number;
}

interface RefusedRequest {
  readonly id: string;
  readonly address: string;
  readonly why: string;
}

export interface RefusalLog {
  /** Adds a request to the webhook of an automation; `undefined` for an unknown one. */
  add(automation: string | undefined, request: RefusedRequest): void;
  readonly get: (automation: string) => WebhookRefusal | undefined;
}

/** A line for each webhook in this time, so that senders cannot fill the log. */
const LINE_MS = 10_000;

/** More automations than have webhooks at one server. */
const MAX_WEBHOOKS = 10_000;

const UNKNOWN = ""; // not a name of an automation

/** Writes a line about the first refused request, and at most one in ten seconds about those that follow. */
export function createRefusalLog(write: (text: string) => void, now: () => number): RefusalLog {
  const refusals = new Map<string, WebhookRefusal & { readonly written: number; readonly hidden: number }>();
  return {
    add(automation = UNKNOWN, { id, address, why }) {
      const at = now();
      const previous = refusals.get(automation);
      const { count, written, hidden } = previous ?? { count: 0, written: -Infinity, hidden: 0 };
      const isWritten = Math.abs(at - written) >= LINE_MS;
      const state = isWritten ? { written: at, hidden: 0 } : { written, hidden: hidden + 1 };
      setBounded(refusals, [automation, { count: count + 1, why, at, ...state }], MAX_WEBHOOKS);
      if (!isWritten) return;
      const name = automation === UNKNOWN ? quote(id, 64) : `${id} of the automation ${automation}`;
      const more = hidden === 0 ? "" : `; ${hidden} more were refused before`;
      write(`Refused a request to the webhook ${name} from ${address}: ${why}${more}`);
    },
    get(automation) {
      const refusal = refusals.get(automation);
      return refusal && { count: refusal.count, why: refusal.why, at: refusal.at };
    },
  };
}
