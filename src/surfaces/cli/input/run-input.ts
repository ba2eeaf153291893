import { getMessage } from "../../../errors.ts";
import { parseValueExactly } from "../../../shared/json/exact-json.ts";
import { readTextFile } from "./read-text.ts";
import { UsageError } from "../usage-error.ts";

/** Reads the text of the option `--input`: JSON, or `@FILE` for a file with JSON. */
export async function readRunInput(written: string, signal: AbortSignal): Promise<string> {
  if (written.startsWith("@")) return readTextFile(written.slice(1), signal);
  return written;
}

/** Parses the JSON of an input. Throws a `UsageError`. */
export function parseRunInput(json: string): unknown {
  try {
    return parseValueExactly(json);
  } catch (thrown) {
    throw new UsageError(
      `Cannot read the input as JSON: ${getMessage(thrown)}; write --input '{"name": "value"}', or --input @FILE`,
    );
  }
}
