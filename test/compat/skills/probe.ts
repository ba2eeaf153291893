/** @file Answers, reports progress, and waits until it is cancelled. */

import { writeFileSync } from "node:fs";

interface CallContext {
  readonly signal: AbortSignal;
  progress(done: number, total: number): void;
}

/** Answer the question. */
export function answer(): number {
  return 42;
}

/** Report progress, then answer. */
export async function work(context: CallContext): Promise<number> {
  for (const done of [1, 2]) context.progress(done, 2);
  return 42;
}

/**
 * Wait until the call is cancelled.
 *
 * @param started A file that is written at the beginning
 * @param cancelled A file that is written when the call is cancelled
 */
export async function wait(started: string, cancelled: string, context: CallContext): Promise<void> {
  await new Promise<void>((resolve) => {
    context.signal.addEventListener("abort", () => resolve(), { once: true });
    writeFileSync(started, "");
  });
  writeFileSync(cancelled, "");
}
