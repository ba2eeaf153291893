import { rm, writeFile } from "node:fs/promises";
import { dirname, relative } from "node:path";

import { whyNotWritten } from "../../../config/index.ts";
import { isRecord } from "../../../model/json.ts";
import { UsageError } from "../usage-error.ts";
import { makeFolder } from "../../../shared/files/make-folder.ts";

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
