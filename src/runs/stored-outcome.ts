import { parseTagged } from "../../sandbox/index.ts";
import { getValueJson } from "../shared/json/outcome-value.ts";
import type { Outcome } from "../model/outcome.ts";
import { decodeFromGuest, encodeForGuest } from "../shared/values/value-encoding.ts";
import type { StoredOutcome } from "./header.ts";

/** The result of a run whose result is longer is not stored: a replay has it. In UTF-16 units. */
const MAX_STORED_VALUE = 262_144;

/** Encodes an outcome for the store, or for another process. `maxUnits` is the longest result as JSON. */
export function toStoredOutcome(outcome: Outcome, maxUnits: number = MAX_STORED_VALUE): StoredOutcome {
  if (outcome.kind !== "completed") return outcome;
  const { kind, runId, output, text, notes, calls, usage } = outcome;
  const rest = { kind, runId, output, text, notes, calls, usage };
  const json = getValueJson(outcome);
  const encoded = json === undefined ? encodeForGuest(outcome.value, maxUnits) : { json, tagged: false };
  return { ...rest, ...(encoded !== undefined && encoded.json.length <= maxUnits && { value: encoded }) };
}

/** Restores an outcome that was stored. */
export function restoreOutcome(stored: StoredOutcome): Outcome {
  if (stored.kind !== "completed") return stored as Outcome;
  const value =
    stored.value === undefined
      ? undefined
      : decodeFromGuest(stored.value.json, stored.value.tagged ? parseTagged : JSON.parse);
  return { ...stored, value } as Outcome;
}
