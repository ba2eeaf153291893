import { createReadStream } from "node:fs";

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
