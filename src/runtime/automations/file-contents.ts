import { hash } from "node:crypto";
import { constants, type Stats } from "node:fs";
import { lstat, open, opendir } from "node:fs/promises";
import { join } from "node:path";

import {
  type AutomationFile,
  createAutomationError,
  MAX_AUTOMATION_BYTES,
  parseAutomationFile,
} from "../../automations/index.ts";
import { getMessage } from "../../errors.ts";

/** The content of the file of an automation. */
export type StampedContent =
  | {
      readonly kind: "text";
      readonly text: string;
      /** SHA-256 of the text. */
      readonly digest: string;
      /** Identifies the state of the file that was read. */
      readonly stamp: string;
      /** Parses the text, once. Throws the same error each time for a text that cannot be used. */
      readonly parse: () => AutomationFile;
    }
  | { readonly kind: "unreadable"; readonly why: string };

/** The files of a folder, and the bytes of their texts: those of a large installation, and what memory has space for. */
const MAX_FILES = 10_000;
const MAX_FOLDER_BYTES = 64 << 20;

const EXTENSION = ".yaml";

export function isAutomationFile(fileName: string): boolean {
  return /^[^._]/.test(fileName) && fileName.endsWith(EXTENSION);
}

/** Returns the file of an automation in its folder. */
export function getAutomationFile(folder: string, name: string): string {
  return join(folder, name + EXTENSION);
}

/**
 * Reads the files of a folder by the names of their automations, sorted; `before` has those that were read before, which are read again
 * only if they have changed. Throws for a folder that cannot be read, and `AUTOMATION_INVALID` for one that is too large.
 */
export async function readContents(
  folder: string,
  before: ReadonlyMap<string, StampedContent>,
): Promise<ReadonlyMap<string, StampedContent>> {
  const contents = new Map<string, StampedContent>();
  let bytes = 0;
  for (const name of await listNames(folder)) {
    const content = await readContent(name, getAutomationFile(folder, name), before.get(name));
    bytes += content.kind === "text" ? Buffer.byteLength(content.text) : 0;
    if (bytes > MAX_FOLDER_BYTES)
      throw createAutomationError(
        `the folder automations has more than ${MAX_FOLDER_BYTES} bytes: remove some of its files`,
      );
    contents.set(name, content);
  }
  return contents;
}

/** Without its folder, a project has no automations. Any other error may pass, and must not end their schedules. */
async function listNames(folder: string): Promise<readonly string[]> {
  const names: string[] = [];
  try {
    for await (const { name: fileName } of await opendir(folder, { bufferSize: 1_000 })) {
      if (isAutomationFile(fileName)) names.push(fileName.slice(0, -EXTENSION.length));
      if (names.length > MAX_FILES)
        throw createAutomationError(`the folder automations has more than ${MAX_FILES} files: remove some of them`);
    }
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    if (code !== "ENOENT" && code !== "ENOTDIR") throw error;
  }
  return names.toSorted();
}

async function readContent(name: string, path: string, before: StampedContent | undefined): Promise<StampedContent> {
  try {
    const facts = await lstat(path);
    requireReadable(facts);
    const stamp = createStamp(facts);
    if (before?.kind === "text" && before.stamp === stamp) return before;
    const text = await readRegularFile(path);
    const digest = hash("sha256", text);
    if (before?.kind === "text" && before.digest === digest) return { ...before, stamp };
    return { kind: "text", text, digest, stamp, parse: parseOnce(name, text) };
  } catch (error) {
    return { kind: "unreadable", why: getMessage(error) };
  }
}

/**
 * Reads the file of an automation. It may have been replaced since it was looked at: a pipe must not be waited for, nor a link be
 * followed. Throws for what is not a regular file, and for one that is too large.
 */
export async function readRegularFile(path: string): Promise<string> {
  const file = await open(path, constants.O_RDONLY | (constants.O_NOFOLLOW ?? 0) | (constants.O_NONBLOCK ?? 0));
  try {
    requireReadable(await file.stat());
    return await file.readFile("utf8");
  } finally {
    await file.close();
  }
}

function requireReadable(facts: Stats): void {
  if (!facts.isFile()) throw new TypeError("it is not a regular file");
  if (facts.size > MAX_AUTOMATION_BYTES)
    throw new TypeError(`it has ${facts.size} bytes; at most ${MAX_AUTOMATION_BYTES} are read`);
}

function parseOnce(name: string, text: string): () => AutomationFile {
  let result: { readonly file: AutomationFile } | { readonly error: unknown } | undefined;
  const parse = (): NonNullable<typeof result> => {
    try {
      return { file: parseAutomationFile(name, text) };
    } catch (error) {
      return { error };
    }
  };
  return () => {
    result ??= parse();
    if ("error" in result) throw result.error;
    return result.file;
  };
}

/** A file that was changed a moment ago may be changed once more without another time. */
const FRESH_MS = 2_000;

/** Identifies the state of a file without its bytes; never the same twice for one that was changed a moment ago. */
function createStamp({ mtimeMs, ctimeMs, size, ino }: Stats): string {
  const now = Date.now();
  return now - Math.max(mtimeMs, ctimeMs) < FRESH_MS
    ? `fresh ${now} ${performance.now()}`
    : `${mtimeMs} ${ctimeMs} ${size} ${ino}`;
}
