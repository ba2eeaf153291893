import { once } from "node:events";
import { createWriteStream } from "node:fs";
import { finished } from "node:stream/promises";

import { whyNotWritten } from "../../../config/index.ts";
import { UsageError } from "../usage-error.ts";

/** Writes lines to a new file that only its owner can read, or to stdout. Returns their number. */
export async function writeLines(list: AsyncIterable<string>, file: string | undefined): Promise<number> {
  if (file === undefined) return writeToStdout(list);
  const stream = createWriteStream(file, { flags: "wx", mode: 0o600 });
  try {
    await once(stream, "open");
    const count = await writeAll(list, stream);
    stream.end();
    await finished(stream);
    return count;
  } catch (thrown) {
    const { code } = thrown as NodeJS.ErrnoException;
    if (code === undefined) throw thrown;
    throw new UsageError(`Cannot write ${file}: ${whyNotWritten(code)}`);
  }
}

/** A reader that stops, such as `head`, ends the writing. */
async function writeToStdout(list: AsyncIterable<string>): Promise<number> {
  try {
    return await writeAll(list, process.stdout);
  } catch (thrown) {
    if ((thrown as NodeJS.ErrnoException).code === "EPIPE") return 0;
    throw thrown;
  }
}

async function writeAll(list: AsyncIterable<string>, stream: NodeJS.WritableStream): Promise<number> {
  let count = 0;
  for await (const line of list) {
    count++;
    if (!stream.write(`${line}\n`)) await once(stream, "drain");
  }
  return count;
}
