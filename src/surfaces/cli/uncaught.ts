import type { KnownSecrets } from "../../shared/secrets.ts";
import { EXIT_CODES } from "./exit-codes.ts";
import { createErrorResult } from "./error-answer.ts";
import type { Terminal } from "./terminal/terminal.ts";

/** Ends the process with a sentence when an exception is not caught. */
export function endOnUncaught(terminal: Terminal): void {
  process.on("uncaughtException", (thrown) => {
    const answer = createErrorResult(thrown, terminal);
    terminal.show(answer);
    process.exit(EXIT_CODES[answer.exit].code);
  });
}

/** From now on, writes each exception that is not caught to stderr, with its stack, and goes on where that is sound. */
export function serveOnUncaught(secrets: KnownSecrets): void {
  process.removeAllListeners("uncaughtException");
  process.on("uncaughtException", (thrown) => {
    const stack = thrown instanceof Error ? thrown.stack : undefined;
    const says = secrets.maskText(stack ?? String(thrown));
    process.stderr.write(`Uncaught exception during a request: ${says}\n`);
    if (!isSoundToGoOn(thrown)) process.exit(EXIT_CODES.failed.code);
  });
}

/**
 * Going on is sound because requests share nothing that an exception could leave half-written for the next one: a run has
 * an isolate of its own, callers and arguments are passed along and never stored, catalogs are replaced as a whole. The
 * request that was cut off ends by the time limit of its run or call. It is not sound
 * - while the server starts: without all of its parts it would answer wrongly for as long as it lives, so this is not
 *   called before it serves;
 * - when Node reports that an invariant of its own is broken: then no part of the process can be relied on.
 */
function isSoundToGoOn(thrown: unknown): boolean {
  return !(thrown instanceof Error && "code" in thrown && thrown.code === "ERR_INTERNAL_ASSERTION");
}
