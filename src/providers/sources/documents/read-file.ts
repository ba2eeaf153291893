import { readFile, realpath, stat } from "node:fs/promises";
import { dirname, relative, sep } from "node:path";
import { fileURLToPath } from "node:url";

import type { CompileOrder, Validators } from "../compile/protocol.ts";
import { readRemoteFile } from "./read-remote-file.ts";

/** Bytes of a document with all its files. */
export const MAX_DOCUMENT_BYTES = 64 << 20;

/** Reads the text of a file of a document. Rejects with an error that says why it cannot. */
export type ReadFile = (url: string) => Promise<string>;

/** Thrown for a document that is as it was read last. */
export class UnchangedDocument extends Error {}

/** Reads the files of a document: those in its folder, or those of its own server. */
export class DocumentReader {
  readonly #root: URL;
  readonly #options: Pick<CompileOrder, "isPrivate" | "last">;
  #files = 0;
  #validators: Validators | undefined;

  constructor({ document, ...options }: Pick<CompileOrder, "document" | "isPrivate" | "last">) {
    this.#root = new URL(document);
    this.#options = options;
  }

  /** The validators of a document in one file; those of one file say nothing about others. */
  get validators(): Validators | undefined {
    return this.#files === 1 ? this.#validators : undefined;
  }

  /** Throws `UnchangedDocument` if its server says that the document is as it was. */
  readonly read: ReadFile = async (url) => {
    this.#files += 1;
    const target = new URL(url);
    const root = this.#root;
    if (target.protocol === "file:" && root.protocol === "file:") return readLocalFile(target, root);
    if (target.origin !== root.origin || !/^https?:$/.test(target.protocol))
      throw new Error(
        `it is not read, because it is not ${root.protocol === "file:" ? "in the document's folder" : `at ${root.origin}, as the document`}`,
      );
    const { isPrivate, last } = this.#options;
    const validators = target.href === root.href ? last?.validators : undefined;
    const file = await readRemoteFile(target, {
      isPrivate,
      maxBytes: MAX_DOCUMENT_BYTES,
      ...(validators !== undefined && { validators }),
    });
    if (file === undefined) throw new UnchangedDocument();
    this.#validators = file.validators;
    return file.text;
  };
}

/** A link may not lead out of the folder either, and hidden files, such as `.env`, are for others. */
async function readLocalFile(target: URL, root: URL): Promise<string> {
  const file = await realpath(fileURLToPath(target));
  const document = await realpath(fileURLToPath(root));
  const path = relative(dirname(document), file).split(sep);
  if (path[0] === "..") throw new Error("it is not read, because it is outside of the document's folder");
  if (file !== document && path.some((name) => name.startsWith(".")))
    throw new Error("it is not read, because it is hidden");
  const facts = await stat(file);
  if (!facts.isFile()) throw new Error("it is no file");
  if (facts.size > MAX_DOCUMENT_BYTES) throw new Error(`it has more than ${MAX_DOCUMENT_BYTES >> 20} MB`);
  return readFile(file, "utf8");
}
