import { open, rename, rm, type FileHandle } from "node:fs/promises";
import { dirname } from "node:path";
import { setImmediate } from "node:timers/promises";

import { createError } from "../errors.ts";
import { isRecord, parseJson } from "../model/json.ts";
import type { Space } from "./index.ts";
import { withLock } from "../shared/files/lock.ts";
import { createQueue } from "../shared/threads/queue.ts";
import { Texts } from "./texts.ts";
import { makeFolder } from "../shared/files/make-folder.ts";

/** A file is compacted when it is larger than this, and `WASTE` times larger than its live content. */
const MIN_COMPACTED_BYTES = 64 << 10;
const WASTE = 4;

/** Characters that are parsed in one turn of the event loop. */
const CHARACTERS_AT_ONCE = 256 << 10;

/** A space that ends with its store. */
export interface ClosableSpace extends Space {
  /** Refuses further changes, and waits for those that were made before. */
  close(): Promise<void>;
}

/**
 * A space in a file of its own: each line is one change, `{"key","value"}`, or `{"key"}` for a deletion, or a list of changes
 * that were made at once. A writer holds a lock, which others wait for up to `lockMs`, and only appends: a process that dies while
 * it writes leaves at most one unreadable line.
 */
export function fileSpace(file: string, lockMs: number): ClosableSpace {
  const log = new Log(file);
  /** The operations share the content that was read. */
  const queued = createQueue();
  let isClosed = false;

  const change = async <Result>(work: () => Result): Promise<Result> => {
    if (isClosed) throw createError("STORE_UNAVAILABLE", "it was closed");
    return queued(async () => {
      await makeFolder(dirname(file), 0o700);
      return withLock(`${file}.lock`, lockMs, () => log.write(work));
    });
  };

  return {
    get: (key) => queued(async () => (await log.read()).get(key)),
    set: (key, value) => change(() => log.put(key, value)),
    delete: (key) => change(() => log.delete(key)),
    entries: (prefix) => queued(async () => (await log.read()).entries(prefix)),
    update: (key, make) => change(() => log.put(key, make(log.get(key)))),
    change: (work) => change(() => work(log)),
    size: () => queued(async () => (await log.read()).size),
    close() {
      isClosed = true;
      return queued(async () => {});
    },
  };
}

/** The content that was read from a file, and the changes to append to it. */
class Log {
  readonly #file: string;
  readonly #texts = new Texts();
  #inode = 0;
  /** Number of bytes read so far. */
  #offset = 0;
  #endsInLine = true;
  #changes: string[] = [];

  constructor(file: string) {
    this.#file = file;
  }

  /** Reads the current content of the file. */
  async read(): Promise<Texts> {
    const handle = await open(this.#file, "r").catch((error: NodeJS.ErrnoException) => {
      if (error.code === "ENOENT") return undefined;
      throw error;
    });
    try {
      if (handle === undefined) this.#forget(0);
      else await this.#readRest(handle);
    } finally {
      await handle?.close();
    }
    return this.#texts;
  }

  get size(): number {
    return this.#texts.size;
  }

  get(key: string): unknown {
    return this.#texts.get(key);
  }

  put(key: string, value: unknown): void {
    this.#texts.put(key, value);
    this.#changes.push(JSON.stringify({ key, value }));
  }

  delete(key: string): boolean {
    const wasThere = this.#texts.delete(key);
    if (wasThere) this.#changes.push(JSON.stringify({ key }));
    return wasThere;
  }

  /** Runs `work` on the newest content and appends its changes. */
  async write<Result>(work: () => Result): Promise<Result> {
    await this.read();
    this.#changes = [];
    let result: Result;
    try {
      result = work();
      if (this.#changes.length > 0) await this.#append();
    } catch (error) {
      // The changes were not written: read the file again.
      this.#forget(0);
      throw error;
    }
    if (this.#offset > MIN_COMPACTED_BYTES && this.#offset > WASTE * this.#texts.size) await this.#compact();
    return result;
  }

  async #readRest(handle: FileHandle): Promise<void> {
    const { ino, size } = await handle.stat();
    if (ino !== this.#inode || size < this.#offset) this.#forget(ino);
    if (size === this.#offset) return;
    const bytes = Buffer.alloc(size - this.#offset);
    const { bytesRead } = await handle.read(bytes, 0, bytes.length, this.#offset);
    const end = bytes.subarray(0, bytesRead).lastIndexOf("\n") + 1;
    this.#endsInLine = end === bytesRead;
    this.#offset += end;
    let characters = 0;
    for (const line of bytes.subarray(0, end).toString().split("\n")) {
      this.#apply(line);
      characters += line.length;
      if (characters < CHARACTERS_AT_ONCE) continue;
      characters = 0;
      await setImmediate();
    }
  }

  #apply(line: string): void {
    for (const { key, value } of parseChanges(line)) {
      if (value === undefined) this.#texts.delete(key);
      else this.#texts.put(key, value);
    }
  }

  async #append(): Promise<void> {
    // Ends a partial line first, left by a process that died while it wrote.
    const [first = ""] = this.#changes;
    const line = this.#changes.length === 1 ? first : `[${this.#changes.join(",")}]`;
    const text = `${this.#endsInLine ? "" : "\n"}${line}\n`;
    const handle = await open(this.#file, "a", 0o600);
    try {
      await handle.appendFile(text);
      const { ino, size } = await handle.stat();
      this.#inode = ino;
      this.#offset = size;
      this.#endsInLine = true;
    } finally {
      await handle.close();
    }
  }

  async #compact(): Promise<void> {
    const part = `${this.#file}.part`;
    await rm(part, { force: true });
    const lines = this.#texts.entries().map(([key, value]) => `${JSON.stringify({ key, value })}\n`);
    const handle = await open(part, "wx", 0o600);
    try {
      await handle.writeFile(lines.join(""));
      await handle.sync();
    } finally {
      await handle.close();
    }
    await rename(part, this.#file);
    this.#forget(0);
  }

  #forget(inode: number): void {
    this.#texts.clear();
    this.#inode = inode;
    this.#offset = 0;
    this.#endsInLine = true;
  }
}

interface Change {
  readonly key: string;
  readonly value: unknown;
}

/** Parses a line; an incomplete one has no changes. */
function parseChanges(line: string): readonly Change[] {
  // Another text is empty, or left by a process that died while it wrote: that change was never acknowledged.
  const parsed = parseJson(line);
  return (Array.isArray(parsed) ? parsed : [parsed]).flatMap((change: unknown) => {
    const { key, value } = isRecord(change) ? change : {};
    return typeof key === "string" ? [{ key, value }] : [];
  });
}
