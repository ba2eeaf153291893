import { format } from "node:util";

import type { KnownSecrets } from "../../shared/secrets.ts";
import type { ServeLog } from "./serve-log.ts";
import { EXIT_CODES } from "./exit-codes.ts";
import { createErrorResult } from "./error-answer.ts";
import type { Terminal } from "./terminal/terminal.ts";
import { escaped } from "./text/layout.ts";

/** Ends the process with a sentence when an exception is not caught. */
export function endOnUncaught(terminal: Terminal): void {
  process.on("uncaughtException", (thrown) => {
    const answer = createErrorResult(thrown, terminal);
    terminal.show(answer);
    process.exit(EXIT_CODES[answer.exit ?? "failed"].code);
  });
}

/** Writes the warnings of libraries, which may have words of a server, on a line each, with secrets masked and nothing a terminal obeys. */
export function guardWarnings(write: (line: string) => void): void {
  // oxlint-disable-next-line eslint/no-console -- libraries write there
  console.warn = (...parts: readonly unknown[]) => write(escaped(format(...parts)));
}

/** Writes each uncaught exception to the log with its stack, and keeps serving where that is safe. */
export function serveOnUncaught(secrets: KnownSecrets, log: ServeLog): void {
  guardWarnings((line) => log.listener("warn", secrets.maskText(line), undefined));
  process.removeAllListeners("uncaughtException");
  process.on("uncaughtException", (thrown) => {
    const stack = thrown instanceof Error ? thrown.stack : undefined;
    const says = secrets.maskText(stack ?? String(thrown));
    log.say(`Uncaught exception during a request: ${says}`, "error");
    if (!isSafeToContinue(thrown)) process.exit(EXIT_CODES.failed.code);
  });
}

/**
 * Continuing is safe because requests share no state that an exception could leave half-written: a run has its own
 * isolate, callers and arguments are passed along and never stored, catalogs are replaced as a whole. The interrupted
 * request ends by the time limit of its run or call. Continuing is not safe
 * - while the server starts: with parts missing, it would answer wrongly until it ends, so this handler is installed
 *   only once it serves;
 * - when Node reports a broken internal invariant: no part of the process is reliable then.
 */
function isSafeToContinue(thrown: unknown): boolean {
  return !(thrown instanceof Error && "code" in thrown && thrown.code === "ERR_INTERNAL_ASSERTION");
}
