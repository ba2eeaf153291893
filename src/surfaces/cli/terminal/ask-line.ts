import { createInterface } from "node:readline/promises";
import { Writable } from "node:stream";

/** True if there is a person who can be asked. */
export function isAtTerminal(): boolean {
  return process.stdin.isTTY && process.stderr.isTTY;
}

/** One line from the person at the terminal; an empty one after the end of the input, and after an interruption. */
export async function askLine(question: string, signal: AbortSignal): Promise<string> {
  // Without `terminal: false`, readline would keep Ctrl-C to itself.
  const terminal = createInterface({ input: process.stdin, output: process.stderr, terminal: false });
  return readAnswer(terminal, question, signal);
}

/** The same, but what is typed is not shown. */
export async function askSecret(question: string, signal: AbortSignal): Promise<string> {
  const silence = new Writable({ write: (_chunk, _encoding, done) => done() });
  const terminal = createInterface({ input: process.stdin, output: silence, terminal: true });
  process.stderr.write(question); // only now does the terminal itself not show what is typed
  terminal.once("SIGINT", () => process.kill(process.pid, "SIGINT")); // here readline does keep it to itself
  const answer = await readAnswer(terminal, "", signal);
  process.stderr.write("\n");
  return answer;
}

async function readAnswer(
  terminal: ReturnType<typeof createInterface>,
  question: string,
  signal: AbortSignal,
): Promise<string> {
  const ended = new Promise<string>((resolve) => terminal.once("close", () => resolve("")));
  const interrupted = (): void => terminal.close();
  signal.addEventListener("abort", interrupted, { once: true });
  try {
    if (signal.aborted) return "";
    return await Promise.race([terminal.question(question), ended]);
  } finally {
    signal.removeEventListener("abort", interrupted);
    terminal.close();
  }
}

/** Whatever is not a clear yes is a no. */
export async function askYesNo(question: string, signal: AbortSignal): Promise<boolean> {
  return /^\s*y(es)?\s*$/i.test(await askLine(question, signal));
}
