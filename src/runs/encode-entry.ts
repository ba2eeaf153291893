import type { SandboxAnswer } from "../../sandbox/index.ts";
import type { RecordEvent } from "./run-record.ts";

/** An entry ends with the event that makes it this long, in UTF-16 units: to write one stops the event loop for as long. */
const MAX_ENTRY_UNITS = 1 << 19;

/** Returns the JSON of one entry, and how many of the events are in it: all, or the first. */
export function encodeEntry(
  events: readonly RecordEvent[],
  { omitsAnswers }: { readonly omitsAnswers: boolean },
): { readonly count: number; readonly json: string } {
  const texts: string[] = [];
  let units = 0;
  for (const event of events) {
    const text = JSON.stringify(omitsAnswers ? omitAnswer(event) : event);
    texts.push(text);
    units += text.length;
    if (units >= MAX_ENTRY_UNITS) break;
  }
  return { count: texts.length, json: `[${texts.join(",")}]` };
}

/** The answer of a call whose result the record does not have. */
const OMITTED: SandboxAnswer = { ok: false, error: { name: "CallError", code: "RUN_TOO_LARGE" } };

function omitAnswer(event: RecordEvent): RecordEvent {
  return event.type === "end" ? { ...event, answer: OMITTED } : event;
}
