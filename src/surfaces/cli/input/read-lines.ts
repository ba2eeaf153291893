import { createReadStream } from "node:fs";

import { UsageError } from "../usage-error.ts";
import { toReadError } from "./read-text.ts";

/** Far above the length of a record; stops a file that is one endless line. */
const MAX_LINE_UNITS = 1 << 20;

/** Reads the lines of a file of any size; the last one may have no line break. Throws a `UsageError`. */
export async function* readLines(file: string): AsyncGenerator<string> {
  let rest = "";
  try {
    for await (const chunk of createReadStream(file, "utf8") as AsyncIterable<string>) {
      const parts = (rest + chunk).split("\n");
      rest = parts.pop() ?? "";
      if (rest.length > MAX_LINE_UNITS)
        throw new UsageError(`Cannot read ${JSON.stringify(file)}: a line has more than ${MAX_LINE_UNITS} characters`);
      yield* parts;
    }
  } catch (thrown) {
    throw toReadError(thrown, file);
  }
  if (rest !== "") yield rest;
}
