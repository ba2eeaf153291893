import { setTimeout as wait } from "node:timers/promises";

import { createError, getMessage, type SkillgateError } from "../../errors.ts";

/** Primary result codes of SQLite: https://sqlite.org/rescode.html */
const [BUSY, LOCKED, READONLY, IOERR, CORRUPT, FULL, CANTOPEN, CONSTRAINT, NOTADB] = [5, 6, 8, 10, 11, 13, 14, 19, 26];

/** Returns the primary result code; `undefined` for an error of other origin. */
function getResultCode(error: unknown): number | undefined {
  if (!(error instanceof Error)) return undefined;
  const { rawCode, errcode } = error as { readonly rawCode?: unknown; readonly errcode?: unknown };
  const extended = rawCode ?? errcode;
  if (typeof extended === "number") return extended & 0xff;
  // libsql reports why it cannot open a file only in its message.
  const inText = /Unable to open connection to local database .*: (\d+)/.exec(error.message)?.[1];
  return inText === undefined ? undefined : Number(inText) & 0xff;
}

/** True if another connection writes at the moment. */
export function isBusy(error: unknown): boolean {
  const code = getResultCode(error);
  return code === BUSY || code === LOCKED;
}

export function isDamaged(error: unknown): boolean {
  const code = getResultCode(error);
  return code === CORRUPT || code === NOTADB;
}

export function isFull(error: unknown): boolean {
  return getResultCode(error) === FULL;
}

/** Converts an error of SQLite, or of the file system, to one with a code; other errors stay as they are. */
export function toStoreError(error: unknown, file: string): unknown {
  const says = `${file}: ${getMessage(error)}`;
  const fail = (code: ConstructorParameters<typeof SkillgateError>[0]): SkillgateError =>
    createError(code, says, { file }, { cause: error });
  switch (getResultCode(error)) {
    case FULL:
      return fail("STORE_FULL");
    case READONLY:
      return fail("STORE_READ_ONLY");
    case CORRUPT:
    case NOTADB:
      return fail("STORE_DAMAGED");
    case CONSTRAINT:
      return fail("STORE_CONFLICT");
    case CANTOPEN:
    case IOERR:
      return fail("STORE_UNAVAILABLE");
    case undefined:
      return fromFileSystem(error, fail);
    default:
      return fail("STORE_UNAVAILABLE");
  }
}

function fromFileSystem(
  error: unknown,
  fail: (code: "STORE_FULL" | "STORE_READ_ONLY" | "STORE_UNAVAILABLE") => SkillgateError,
): unknown {
  const code = error instanceof Error && "code" in error ? error.code : undefined;
  if (code === "ENOSPC" || code === "EDQUOT") return fail("STORE_FULL");
  if (code === "EROFS" || code === "EACCES" || code === "EPERM") return fail("STORE_READ_ONLY");
  return error instanceof Error && "syscall" in error ? fail("STORE_UNAVAILABLE") : error;
}

const MAX_PAUSE_MS = 20;

/** Repeats `work` while another connection writes. Throws `LOCK_TIMEOUT` after `lockMs` milliseconds. */
export async function whenFree<Result>(work: () => Result | Promise<Result>, lockMs: number): Promise<Result> {
  const until = performance.now() + lockMs;
  for (let pauseMs = 1; ; pauseMs = Math.min(2 * pauseMs, MAX_PAUSE_MS)) {
    try {
      return await work();
    } catch (error) {
      if (!isBusy(error)) throw error;
      if (performance.now() > until) throw lockTimeout(lockMs, error);
    }
    await wait(pauseMs * (0.5 + Math.random()));
  }
}

function lockTimeout(lockMs: number, cause: unknown): SkillgateError {
  const values = `another process has been writing to it for ${lockMs} ms`;
  return createError("LOCK_TIMEOUT", values, { timeoutMs: lockMs }, { cause });
}
