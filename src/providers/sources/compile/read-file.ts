import { readFile, realpath, stat } from "node:fs/promises";
import { dirname, sep } from "node:path";
import { fileURLToPath } from "node:url";

import { MAX_DOCUMENT_BYTES, type ReadFile } from "./load-document.ts";
import { readRemoteFile } from "./read-remote-file.ts";

/** Returns a function that reads the files of a document: those in its folder, or those of its own server. */
export function createReader(document: string, { isPrivate }: { readonly isPrivate: boolean }): ReadFile {
  const root = new URL(document);
  return async (url) => {
    const target = new URL(url);
    if (target.protocol === "file:" && root.protocol === "file:") return readLocalFile(target, root);
    if (target.origin !== root.origin || root.protocol === "file:")
      throw new Error(`it is not read, because it is not beside the document at ${root.origin}`);
    return readRemoteFile(target, { isPrivate, maxBytes: MAX_DOCUMENT_BYTES });
  };
}

/** A link may not lead out of the folder either. */
async function readLocalFile(target: URL, root: URL): Promise<string> {
  const file = await realpath(fileURLToPath(target));
  const folder = dirname(await realpath(fileURLToPath(root)));
  if (!file.startsWith(folder.endsWith(sep) ? folder : folder + sep))
    throw new Error("it is not read, because it is outside of the document's folder");
  const { size } = await stat(file);
  if (size > MAX_DOCUMENT_BYTES) throw new Error(`it has more than ${MAX_DOCUMENT_BYTES >> 20} MB`);
  return readFile(file, "utf8");
}
