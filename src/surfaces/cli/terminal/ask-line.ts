import { createInterface } from "node:readline/promises";
import { Writable } from "node:stream";

/** True if there is a user at a terminal who can answer questions. */
export function isAtTerminal(): boolean {
  return process.stdin.isTTY && process.stderr.isTTY;
}

/** Reads one line from the user at the terminal; empty at the end of the input or after an interruption. */
export async function askLine(question: string, signal: AbortSignal): Promise<string> {
  // Without `terminal: false`, readline would consume Ctrl-C.
  const terminal = createInterface({ input: process.stdin, output: process.stderr, terminal: false });
  return readAnswer(terminal, question, signal);
}

/** Reads one line without echoing it. */
export async function askSecret(question: string, signal: AbortSignal): Promise<string> {
  const silence = new Writable({ write: (_chunk, _encoding, done) => done() });
  const terminal = createInterface({ input: process.stdin, output: silence, terminal: true });
  process.stderr.write(question); // written here, once the terminal no longer echoes
  terminal.once("SIGINT", () => process.kill(process.pid, "SIGINT")); // in this mode, readline consumes Ctrl-C
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

/** Asks a question; any answer but `y` or `yes` means no. */
export async function askYesNo(question: string, signal: AbortSignal): Promise<boolean> {
  return /^\s*y(es)?\s*$/i.test(await askLine(question, signal));
}
