import { createInterface, type Interface } from "node:readline";

/** An action of the user at the prompt. */
export type EditorEvent =
  /** Lines that arrived together: one that was typed, or several that were pasted. */
  | { readonly kind: "lines"; readonly lines: readonly string[] }
  /** Ctrl-C; `text` is what was typed in the line, which is discarded. */
  | { readonly kind: "interrupt"; readonly text: string }
  /** Ctrl-D, or the end of the terminal. */
  | { readonly kind: "end" };

/** Edits lines at the terminal, with history and completion. */
export interface LineEditor extends Disposable {
  /** Shows the prompt and waits for the user. Input that arrived since the last event comes first. */
  next(prompt: string): Promise<EditorEvent>;
  /** Asks a question while the user is not at the prompt; empty if the question is closed. The answer does not enter the history. */
  ask(question: string, closed: AbortSignal): Promise<string>;
  /** Calls the listener at Ctrl-C, in place of the event, until it is disposed. */
  listenForInterrupt(listener: () => void): Disposable;
}

export interface LineEditorOptions {
  /** Returns the candidates that may replace the end of the line, and that end. */
  readonly complete: (line: string) => readonly [candidates: readonly string[], end: string];
  /** Earlier lines, the newest first. */
  readonly history: readonly string[];
  /** Closes the editor. */
  readonly signal: AbortSignal;
}

/** The most lines that Up reaches. */
const MAX_HISTORY = 1_000;

export function openLineEditor({ complete, history, signal }: LineEditorOptions): LineEditor {
  const events: EditorEvent[] = [];
  let onEvent: (() => void) | undefined;
  let onAnswer: ((line: string) => void) | undefined;
  let onInterrupt: (() => void) | undefined;
  let lines: string[] = [];
  const terminal = createTerminalInterface(complete, history);
  const push = (event: EditorEvent): void => {
    events.push(event);
    onEvent?.();
  };
  terminal.on("line", (line) => {
    if (onAnswer !== undefined) return onAnswer(line);
    if (lines.push(line) > 1) return;
    setImmediate(() => {
      push({ kind: "lines", lines });
      lines = [];
    });
  });
  terminal.on("history", (all) => void (onAnswer !== undefined && all.shift()));
  terminal.on("SIGINT", () => {
    if (onInterrupt !== undefined) return onInterrupt();
    const text = terminal.line;
    terminal.write(null, { ctrl: true, name: "e" });
    terminal.write(null, { ctrl: true, name: "u" });
    process.stderr.write("\n");
    push({ kind: "interrupt", text });
  });
  terminal.once("close", () => setImmediate(push, { kind: "end" })); // after lines that arrived together with the end
  const close = (): void => terminal.close();
  signal.addEventListener("abort", close, { once: true });

  return {
    async next(prompt) {
      terminal.setPrompt(prompt);
      if (events.length === 0) {
        terminal.prompt(true);
        await new Promise<void>((resolve) => (onEvent = resolve));
        onEvent = undefined;
      }
      return events.shift() ?? { kind: "end" };
    },
    async ask(question, closed) {
      if (closed.aborted) return "";
      const start = question.lastIndexOf("\n") + 1;
      process.stderr.write(question.slice(0, start));
      terminal.setPrompt(question.slice(start));
      terminal.prompt();
      const answer = await new Promise<string>((resolve) => {
        onAnswer = resolve;
        terminal.once("close", () => resolve(""));
        closed.addEventListener("abort", () => resolve(""), { once: true });
      });
      onAnswer = undefined;
      terminal.setPrompt("");
      return answer;
    },
    listenForInterrupt(listener) {
      onInterrupt = listener;
      return { [Symbol.dispose]: () => void (onInterrupt = undefined) };
    },
    [Symbol.dispose]() {
      signal.removeEventListener("abort", close);
      close();
    },
  };
}

/** Writes to stderr, so that stdout has only results. */
function createTerminalInterface(
  complete: LineEditorOptions["complete"],
  history: LineEditorOptions["history"],
): Interface {
  return createInterface({
    input: process.stdin,
    output: process.stderr,
    terminal: true,
    history: [...history],
    historySize: MAX_HISTORY,
    removeHistoryDuplicates: true,
    completer: (line: string) => {
      const [candidates, end] = complete(line);
      return [[...candidates], end];
    },
  });
}
