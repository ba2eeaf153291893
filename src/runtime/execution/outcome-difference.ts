import { truncateText } from "../../shared/format-text.ts";
import type { StoredOutcome } from "../../runs/index.ts";
import type { CallRecord } from "../../model/outcome.ts";

/**
 * Compares a repeated outcome with the recorded one, except for the resources that they used. Says in words what differs first.
 * The remarks on another text of the program may differ.
 */
export function findOutcomeDifference(
  repeated: StoredOutcome,
  recorded: StoredOutcome,
  { isOtherText = false }: { readonly isOtherText?: boolean } = {},
): string | undefined {
  const [now, before] = [toFacts(repeated), toFacts(recorded)];
  if (before["value"] === undefined) delete now["value"]; // it was too large to be recorded
  for (const name of Object.keys({ ...before, ...now })) {
    if (now[name] === before[name] || (isOtherText && REMARKS.has(name))) continue;
    return `its ${name} is ${shorten(now[name])}; recorded is ${shorten(before[name])}`;
  }
  return undefined;
}

const REMARKS: ReadonlySet<string> = new Set(["notes", "text"]);

/** The parts of an outcome as texts, the most telling first. */
function toFacts(outcome: StoredOutcome): Record<string, string | undefined> {
  const { kind, value, error, output, notes, calls, text } = outcome as Readonly<Record<string, unknown>> & {
    readonly value?: { readonly json: string };
  };
  const list = Array.isArray(calls) ? (calls as readonly CallRecord[]) : [];
  return {
    end: String(kind),
    value: value?.json,
    error: error === undefined ? undefined : JSON.stringify(error),
    output: String(output),
    calls: list
      .map(
        ({ id, skill, method, outcome: end, argumentsDigest }) => `${id} ${skill}.${method} ${end} ${argumentsDigest}`,
      )
      .join(", "),
    notes: JSON.stringify(notes),
    text: String(text),
  };
}

const MAX_SHOWN = 200;

function shorten(text: string | undefined): string {
  return text === undefined || text === "" ? "empty" : truncateText(text, MAX_SHOWN);
}
