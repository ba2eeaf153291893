/** Runs in the threads of the sandbox, which load it with the first large result. */
import type { ResultDescription } from "../../../sandbox/index.ts";
import { describeLargeValue, summarizeValue } from "./answer-text.ts";

/** Describes a large result. Throws if the text is not JSON, which only a corrupted guest returns. */
export function describeResult(json: string): ResultDescription {
  const value: unknown = JSON.parse(json);
  return { text: describeLargeValue(value, json.length), summary: summarizeValue(value) };
}
