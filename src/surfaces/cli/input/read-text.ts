import { createReadStream } from "node:fs";
import { StringDecoder } from "node:string_decoder";

import { sentence, SkillgateError } from "../../../errors.ts";
import { isRecord } from "../../../model/json.ts";
import { UsageError } from "../usage-error.ts";

/** Far above the size of any real input; stops an endless stream. */
const MAX_BYTES = 16 << 20;

/** Reads the text of a file that the command line names. */
export async function readTextFile(path: string, signal: AbortSignal): Promise<string> {
  try {
    return await readText(createReadStream(path, { signal }), JSON.stringify(path));
  } catch (thrown) {
    throw toReadError(thrown, path);
  }
}

/** Converts an error of the file system to a `UsageError`; any other error stays as it is. */
export function toReadError(thrown: unknown, path: string): unknown {
  if (!isRecord(thrown) || typeof thrown["syscall"] !== "string") return thrown;
  return new UsageError(
    `Cannot read ${JSON.stringify(path)}: ${REASONS.get(thrown["code"]) ?? String(thrown["code"])}`,
  );
}

/** Reads a whole stream as text, without a byte order mark. */
export async function readText(stream: AsyncIterable<Buffer>, name: string): Promise<string> {
  const chunks: Buffer[] = [];
  let bytes = 0;
  for await (const chunk of stream) {
    bytes += chunk.length;
    if (bytes > MAX_BYTES)
      throw new SkillgateError("SOURCE_LIMIT", sentence("SOURCE_LIMIT", `more than ${MAX_BYTES} bytes`));
    chunks.push(chunk);
  }
  return decode(Buffer.concat(chunks), name);
}

/** Decodes UTF-8, or UTF-16 with a byte order mark, as editors and shells on Windows write it. */
function decode(bytes: Buffer, name: string): string {
  const encoding = { fffe: "utf-16le", feff: "utf-16be" }[bytes.toString("hex", 0, 2)] ?? "utf-8";
  try {
    return new TextDecoder(encoding, { fatal: true }).decode(bytes);
  } catch {
    throw new UsageError(`Cannot read ${name}: it is not UTF-8 text; save it as UTF-8`);
  }
}

const REASONS: ReadonlyMap<unknown, string> = new Map([
  ["ENOENT", "it does not exist"],
  ["ENOTDIR", "it does not exist"],
  ["ENAMETOOLONG", "it does not exist"],
  ["EISDIR", "it is a folder"],
  ["EACCES", "this user may not read it"],
  ["EPERM", "this user may not read it"],
]);

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

/**
 * Reads a stream line by line, without the line breaks; the last line may have none. A line with more than `maxUnits` UTF-16
 * units is skipped, and yields `undefined`.
 */
export async function* streamLines(input: AsyncIterable<Buffer>, maxUnits: number): AsyncGenerator<string | undefined> {
  const decoder = new StringDecoder("utf8");
  let rest = "";
  let isTooLong = false;
  for await (const chunk of input) {
    const [first = "", ...others] = decoder.write(chunk).split("\n");
    rest += isTooLong ? "" : first;
    isTooLong ||= rest.length > maxUnits;
    for (const next of others) {
      yield finishLine(rest, isTooLong);
      rest = next;
      isTooLong = rest.length > maxUnits;
    }
    if (isTooLong) rest = "";
  }
  rest += decoder.end();
  if (rest !== "" || isTooLong) yield finishLine(rest, isTooLong);
}

function finishLine(line: string, isTooLong: boolean): string | undefined {
  return isTooLong ? undefined : line.replace(/\r$/, "");
}
