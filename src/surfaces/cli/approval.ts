import { createInterface } from "node:readline/promises";

import type { RuntimeOptions } from "../../options.ts";
import { approvalQuestion } from "./output.ts";

type Approve = NonNullable<RuntimeOptions["approve"]>;

/** Asks the person at the terminal for each call that needs an approval, one after the other. Nobody there: nothing. */
export function approvalAtTerminal(signal: AbortSignal): Approve | undefined {
  if (!process.stdin.isTTY || !process.stderr.isTTY) return undefined;
  let asked: Promise<unknown> = Promise.resolve();
  return (request) => {
    const answer = asked.then(() => ask(approvalQuestion(request), signal));
    asked = answer;
    return answer;
  };
}

/** Whatever is not a clear yes is a no: an end of the input and an interruption, too. */
async function ask(question: string, signal: AbortSignal): Promise<boolean> {
  // Without `terminal: false`, readline would keep Ctrl-C to itself.
  const terminal = createInterface({ input: process.stdin, output: process.stderr, terminal: false });
  const ended = new Promise<string>((resolve) => terminal.once("close", () => resolve("")));
  const interrupted = (): void => terminal.close();
  signal.addEventListener("abort", interrupted, { once: true });
  try {
    if (signal.aborted) return false;
    const answer = await Promise.race([terminal.question(question), ended]);
    return /^\s*y(es)?\s*$/i.test(answer);
  } finally {
    signal.removeEventListener("abort", interrupted);
    terminal.close();
  }
}
