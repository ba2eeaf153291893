import { createInterface, cursorTo, type Interface } from "node:readline";

/** An action of the user at the prompt. */
export type EditorEvent =
  /** Lines that arrived together. A text that was pasted is one of them, with line ends, if the terminal marks pasted text. */
  | { readonly kind: "lines"; readonly lines: readonly string[] }
  /** Ctrl-C; `text` is what was typed, which is discarded. */
  | { readonly kind: "interrupt"; readonly text: string }
  /** Ctrl-D, or the end of the terminal. */
  | { readonly kind: "end" };

/**
 * Edits lines at the terminal, with history, completion and pasted text. While the user is not at the prompt, Ctrl-C is the
 * signal SIGINT.
 */
export interface LineEditor extends Disposable {
  /** Shows the prompt and waits for the user. Input that arrived since the last event comes first. */
  next(prompt: string): Promise<EditorEvent>;
  /**
   * Asks a question while the user is not at the prompt; empty if the question is closed. The answer does not enter the
   * history.
   */
  ask(question: string, closed: AbortSignal): Promise<string>;
}

export interface LineEditorOptions {
  /** Returns the candidates that may replace the end of the line, and that end. */
  readonly complete: (line: string) => readonly [candidates: readonly string[], end: string];
  /** Earlier lines, the newest first. */
  readonly history: readonly string[];
  /** The prompt of further lines of a pasted text. */
  readonly continuation: string;
  readonly output: NodeJS.WriteStream;
  /** Closes the editor. */
  readonly signal: AbortSignal;
}

/** The most lines that Up reaches. */
const MAX_HISTORY = 1_000;

/** A terminal then marks the beginning and the end of pasted text. */
const PASTE_ON = "\u001B[?2004h";
const PASTE_OFF = "\u001B[?2004l";

export function openLineEditor(options: LineEditorOptions): LineEditor {
  const { signal, output, continuation } = options;
  const events: EditorEvent[] = [];
  let onEvent: (() => void) | undefined;
  let onAnswer: ((line: string) => void) | undefined;
  let lines: string[] = [];
  const paste = watchPaste(() => correctRows(terminal, output));
  const terminal: Interface = createTerminalInterface(options, paste);
  output.write(PASTE_ON);
  const push = (event: EditorEvent): void => {
    events.push(event);
    onEvent?.();
  };
  terminal.on("line", (line) => {
    if (onAnswer !== undefined) return onAnswer(line);
    if (paste.isOpen) {
      paste.lines.push(line);
      terminal.setPrompt(continuation);
      return terminal.prompt();
    }
    if (lines.push(paste.takeWith(line)) > 1) return;
    setImmediate(() => {
      push({ kind: "lines", lines });
      lines = [];
    });
  });
  terminal.on("history", (all) => void (onAnswer !== undefined && all.shift()));
  terminal.on("SIGINT", () => {
    if (onEvent === undefined) return void process.kill(process.pid, "SIGINT");
    const text = paste.takeWith(terminal.line);
    terminal.write(null, { ctrl: true, name: "e" });
    terminal.write(null, { ctrl: true, name: "u" });
    output.write("\n");
    push({ kind: "interrupt", text });
  });
  terminal.once("close", () => {
    paste.stop();
    output.write(PASTE_OFF);
    setImmediate(push, { kind: "end" }); // after lines that arrived together with the end
  });
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
      showQuestion(question, terminal, output);
      const answer = await new Promise<string>((resolve) => {
        onAnswer = resolve;
        terminal.once("close", () => resolve(""));
        closed.addEventListener("abort", () => resolve(""), { once: true });
      });
      onAnswer = undefined;
      terminal.setPrompt("");
      return answer;
    },
    [Symbol.dispose]() {
      signal.removeEventListener("abort", close);
      close();
    },
  };
}

/** Shows the last line of a question as the prompt. */
function showQuestion(question: string, terminal: Interface, output: NodeJS.WriteStream): void {
  const start = question.lastIndexOf("\n") + 1;
  output.write(question.slice(0, start));
  terminal.setPrompt(question.slice(start));
  terminal.prompt();
}

function createTerminalInterface({ complete, history, output }: LineEditorOptions, paste: Paste): Interface {
  return createInterface({
    input: process.stdin,
    output,
    terminal: true,
    history: [...history],
    historySize: MAX_HISTORY,
    removeHistoryDuplicates: true,
    completer: (line: string) => {
      if (paste.isOpen) return [[`${line}\t`], line]; // the key is a tab of the pasted text
      const [candidates, end] = complete(line);
      return [[...candidates], end];
    },
  });
}

/**
 * Corrects the row of the cursor from which readline draws the line again: readline does not count the rows of characters that
 * arrive in one piece.
 */
function correctRows(terminal: Interface & { prevRows?: number }, output: NodeJS.WriteStream): void {
  const { rows, cols } = terminal.getCursorPos();
  const { prevRows = 0 } = terminal;
  if (rows <= prevRows) return;
  terminal.prevRows = rows;
  if (cols > 0) return;
  output.write(" "); // a terminal stays in a full row until the next character
  cursorTo(output, 0);
}

/** Text that is being pasted. */
interface Paste {
  readonly isOpen: boolean;
  /** Its lines so far. */
  readonly lines: string[];
  /** Returns the pasted lines, which end with a line. */
  takeWith(line: string): string;
  stop(): void;
}

/** Watches the marks around pasted text, and calls `onKey` before each key has its effect. */
function watchPaste(onKey: () => void): Paste {
  let isOpen = false;
  const lines: string[] = [];
  const watch = (_text: string | undefined, key: { readonly name?: string }): void => {
    onKey();
    if (key.name === "paste-start") isOpen = true;
    if (key.name === "paste-end") isOpen = false;
  };
  process.stdin.on("keypress", watch);
  return {
    get isOpen() {
      return isOpen;
    },
    lines,
    takeWith: (line) => [...lines.splice(0), line].join("\n"),
    stop: () => void process.stdin.off("keypress", watch),
  };
}
