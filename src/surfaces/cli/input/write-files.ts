import { once } from "node:events";
import { type FileHandle, open, rm, writeFile } from "node:fs/promises";
import { dirname, relative } from "node:path";
import { pipeline } from "node:stream/promises";

import { whyNotWritten } from "../../../config/index.ts";
import { SkillgateError } from "../../../errors.ts";
import { isRecord } from "../../../model/json.ts";
import { makeFolder } from "../../../shared/files/make-folder.ts";
import type { CommandResult } from "../command.ts";
import { count, shownPath } from "../text/layout.ts";
import { UsageError } from "../usage-error.ts";

/** Writes lines to a new file that only its owner can read, or to stdout. Returns their number. After a failure there is no file. */
export async function writeLines(list: AsyncIterable<string>, file: string | undefined): Promise<number> {
  if (file === undefined) return writeToStdout(list);
  try {
    const opened = await open(file, "wx", 0o600);
    return await writeOpened(list, opened).catch(async (thrown: unknown) => {
      await rm(file, { force: true }); // a part of the lines looks like all of them
      throw thrown;
    });
  } catch (thrown) {
    throw toWriteError(file, thrown);
  }
}

async function writeOpened(list: AsyncIterable<string>, file: FileHandle): Promise<number> {
  let written = 0;
  async function* end(lines: AsyncIterable<string>): AsyncGenerator<string> {
    for await (const line of lines) {
      written++;
      yield `${line}\n`;
    }
  }
  await pipeline(list, end, file.createWriteStream());
  return written;
}

/** Returns the result of an export. Records on stdout are the whole output, also with `--json`. */
export function createExportResult(records: number, file: string | undefined): CommandResult {
  return file === undefined
    ? { json: undefined, text: "" }
    : { json: { records }, text: `Wrote ${count(records, "record")} to ${shownPath(file)}` };
}

/** Returns the error for a new file that could not be written: a mistake in the command, if the system says why. */
export function toWriteError(file: string, thrown: unknown): unknown {
  const code = thrown instanceof Error && !(thrown instanceof SkillgateError) && "code" in thrown && thrown.code;
  if (typeof code !== "string") return thrown;
  const why = code === "EEXIST" ? "it exists already; name a new file" : whyNotWritten(code);
  return new UsageError(`Cannot write ${file}: ${why}`);
}

/** A reader that stops, such as `head`, ends the writing. */
async function writeToStdout(list: AsyncIterable<string>): Promise<number> {
  let written = 0;
  try {
    for await (const line of list) {
      written++;
      if (!process.stdout.write(`${line}\n`)) await once(process.stdout, "drain");
    }
    return written;
  } catch (thrown) {
    if ((thrown as NodeJS.ErrnoException).code === "EPIPE") return 0;
    throw thrown;
  }
}

/** Writes a new file, and creates its parent folders. Only its owner can read a private one. */
export async function writeNewFile(
  path: string,
  text: string,
  { isPrivate = false }: { readonly isPrivate?: boolean } = {},
): Promise<void> {
  try {
    await makeFolder(dirname(path), 0o777);
    await writeFile(path, text, { flag: "wx", mode: isPrivate ? 0o600 : 0o666 });
  } catch (thrown) {
    if (!isRecord(thrown) || typeof thrown["code"] !== "string") throw thrown;
    if (thrown["code"] === "ENOSPC") await rm(path, { force: true }); // the failed write left an empty file
    throw new UsageError(`Cannot write ${relative(".", path)}: ${whyNotWritten(thrown["code"])}`);
  }
}
